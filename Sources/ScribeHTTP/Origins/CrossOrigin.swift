import HTTPTypes
package import Hummingbird

/// CORS for all APIs, with credentials (C-110).
///
/// It answers preflights without a token, and allows the page to read all other answers, errors too.
package struct CrossOrigin<Next: HTTPResponder>: HTTPResponder where Next.Context == ScribeContext {
    private static var methods: String { "GET, HEAD, POST, PUT, PATCH, DELETE" }
    /// Response headers that pages may read, beside the CORS-safelisted ones.
    private static var exposed: String {
        "ETag, Location, Retry-After, Content-Range, Accept-Ranges, x-request-id, x-amz-request-id, x-amz-bucket-region, "
            + "dg-request-id, dg-error, X-Scribe-Findings"
    }
    /// Allowed request headers for a preflight that asks for none.
    private static var usualHeaders: String {
        "authorization, auth, client-id, flavour, content-type, content-md5, x-scribe-namespace, x-amz-date, "
            + "x-amz-content-sha256, x-amz-security-token, x-amz-meta-bid, x-amz-meta-txnid"
    }

    private let next: Next
    private let allowed: AllowedOrigins
    private let hidden: [String]

    /// - Parameter hidden: First path components of routes that no page of another origin may use.
    package init(next: Next, allowed: AllowedOrigins, hidden: [String]) {
        self.next = next
        self.allowed = allowed
        self.hidden = hidden
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        guard let origin = request.headers.value(of: .origin), !isHidden(request) else {
            var response = try await next.respond(to: request, context: context)
            response.headers.append(.init(name: .vary, value: "Origin"))
            return response
        }
        let isAllowed = allowed.contains(origin)
        let isOwn = WebOrigin(origin).map { $0.host == HostAndPort(request.authority)?.host } ?? false
        if !isAllowed, !isOwn {
            context.explanation?.note(foreignOrigin: origin)
        }
        var response: Response
        if request.method == .options, request.headers.value(of: .accessControlRequestMethod) != nil {
            context.coreContext.endpointPath.value = "preflight"
            response = isAllowed ? Self.preflight(request.headers) : Response(status: .forbidden)
        } else if !isAllowed, !isOwn, request.headers.value(of: .authorization) == nil, request.headers.wantsWebSocket {
            // Browsers send no preflight for a WebSocket, and let the page read its messages. But they set no header:
            // libraries of apps send an origin as well, that of the requested host.
            context.coreContext.endpointPath.value = "socket of a foreign origin"
            response = Response(status: .forbidden)
        } else {
            response = try await next.respond(to: request, context: context)
        }
        response.headers.append(.init(name: .vary, value: "Origin"))
        if isAllowed {
            // Echoed: with credentials browsers reject `*`.
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlAllowCredentials] = "true"
            response.headers[.accessControlExposeHeaders] = Self.exposed
        }
        return response
    }

    private func isHidden(_ request: Request) -> Bool {
        let address = RequestAddress(request)
        return hidden.contains { address.begins(with: $0) }
    }

    private static func preflight(_ headers: HTTPFields) -> Response {
        var answer: HTTPFields = [
            .accessControlAllowMethods: methods, .accessControlMaxAge: "86400",
            .accessControlAllowHeaders: headers.value(of: .accessControlRequestHeaders) ?? usualHeaders,
            .vary: "Access-Control-Request-Headers",
        ]
        // Private Network Access: a public page must ask before it uses a server on a private network.
        if headers.value(of: .requestPrivateNetwork) == "true" { answer[.allowPrivateNetwork] = "true" }
        return Response(status: .noContent, headers: answer)
    }
}
