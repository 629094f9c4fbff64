import HTTPTypes
package import Hummingbird

/// Lets browsers use every API from pages of other origins, with credentials (C-110): preflights are answered here,
/// without a token, and every other answer, refusals included, says that the page may read it.
package struct CrossOrigin<Next: HTTPResponder>: HTTPResponder where Next.Context == ScribeContext {
    private static var methods: String { "GET, HEAD, POST, PUT, PATCH, DELETE" }
    /// What pages may read of an answer, beside the few headers that they always may.
    private static var exposed: String {
        "ETag, Location, Retry-After, Content-Range, Accept-Ranges, x-request-id, x-amz-request-id, x-amz-bucket-region"
    }
    /// What a preflight is told when it does not ask.
    private static var usualHeaders: String {
        "authorization, auth, client-id, flavour, content-type, content-md5, x-amz-date, x-amz-content-sha256, "
            + "x-amz-security-token, x-amz-meta-bid, x-amz-meta-txnid"
    }

    private let next: Next
    private let allowed: AllowedOrigins
    private let hidden: String

    /// - Parameter hidden: the first word of paths that are no page's business, whatever its origin.
    package init(next: Next, allowed: AllowedOrigins, hidden: String) {
        self.next = next
        self.allowed = allowed
        self.hidden = hidden
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        guard let origin = request.headers[.origin], !isHidden(request) else {
            var response = try await next.respond(to: request, context: context)
            response.headers.append(.init(name: .vary, value: "Origin"))
            return response
        }
        let isAllowed = allowed.contains(origin)
        if !isAllowed, WebOrigin(origin)?.host != HostAndPort(request.authority)?.host {
            context.explanation?.note(foreignOrigin: origin)
        }
        var response: Response
        if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            context.coreContext.endpointPath.value = "preflight"
            response = isAllowed ? Self.preflight(request.headers) : Response(status: .forbidden)
        } else if !isAllowed, request.headers.wantsWebSocket {
            // A browser asks nobody before it opens a socket, and lets the page read what comes.
            context.coreContext.endpointPath.value = "socket of a foreign origin"
            response = Response(status: .forbidden)
        } else {
            response = try await next.respond(to: request, context: context)
        }
        response.headers.append(.init(name: .vary, value: "Origin"))
        if isAllowed {
            // Echoed, for with credentials a browser takes no `*`.
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlAllowCredentials] = "true"
            response.headers[.accessControlExposeHeaders] = Self.exposed
        }
        return response
    }

    private func isHidden(_ request: Request) -> Bool { RequestAddress(request).begins(with: hidden) }

    private static func preflight(_ headers: HTTPFields) -> Response {
        var answer: HTTPFields = [
            .accessControlAllowMethods: methods, .accessControlMaxAge: "86400",
            .accessControlAllowHeaders: headers[.accessControlRequestHeaders] ?? usualHeaders,
            .vary: "Access-Control-Request-Headers",
        ]
        // A page of the internet that uses a server on a private network has to ask for that too.
        if headers[.requestPrivateNetwork] == "true" { answer[.allowPrivateNetwork] = "true" }
        return Response(status: .noContent, headers: answer)
    }
}
