import HTTPTypes
import Hummingbird
import ScribeHTTP

/// Admits only operators: rejects requests from web pages, and requests without the token if one is required.
struct OperatorAuthentication: Sendable {
    /// The host that the server listens on.
    let host: String
    /// The bearer token to require; nil if none is required.
    let token: String?
    let proxies: TrustedProxies
    let throttle: LoginThrottle

    func admit(_ request: Request, _ context: ScribeContext) async throws {
        let origin = OperatorRequest(request)
        guard origin.hasOwnHost(host) else { throw ControlError.foreignHost }
        guard origin.isFromNoOtherPage else { throw ControlError.foreignPage }
        if let token {
            try await requireToken(token, request, context)
        } else {
            if origin.isForwarded { throw ControlError.forwarded }
            try Self.requireAdminHeader(request.headers)
        }
        let path = context.place(of: request).path
        if path.dropFirst().first == "playbacks", request.method == .post {
            guard request.headers.value(of: .contentType) == SocketRecording.contentType else {
                throw ControlError.notRecording
            }
        } else if path.dropFirst().first == "snapshots", path.last == "content", request.method == .put {
            guard request.headers.value(of: .contentType) == SnapshotRoutes.contentType else {
                throw ControlError.notArchive
            }
        } else {
            guard request.isDeclaredAsJSON else { throw ControlError.notJSON }
        }
        // The routes about namespaces name theirs in the path.
        if let error = context.namespaceError, path.dropFirst().first != "namespaces" {
            throw error
        }
    }

    /// Requires the header that only scripts of an operator's page add, for browser requests without a token.
    ///
    /// The origin alone proves nothing: an uploaded file that a browser opens has this origin too.
    private static func requireAdminHeader(_ headers: HTTPFields) throws(ControlError) {
        guard headers.value(of: .secFetchSite) == nil || headers.value(of: .scribeAdmin) == "1" else {
            throw .missingAdminHeader
        }
    }

    /// Requires the admin token.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``, ``HTTPProblem/tooManyAttempts(retryAfter:)``.
    private func requireToken(_ token: String, _ request: Request, _ context: ScribeContext) async throws {
        let refusal = HTTPProblem.unauthenticated(reason: "The admin token is needed: Authorization: Bearer …")
        guard request.headers.value(of: .authorization) != nil, let offered = request.headers.bearerToken else {
            throw refusal
        }
        try await throttle.attempt(
            offered, of: LoginThrottle.operators, from: proxies.client(of: request, context), orThrow: refusal
        ) { OperatorRequest.areEqual(offered, token) ? () : nil }
    }
}
