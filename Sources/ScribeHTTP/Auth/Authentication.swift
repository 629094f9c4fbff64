package import HTTPTypes
package import Hummingbird
package import ScribeDomain

/// Finds out who a request acts for.
package struct Authentication: RouterMiddleware {
    package typealias Context = ScribeContext

    private let principal: @Sendable (HTTPFields) async throws -> Principal

    /// - Parameter principal: finds it by a request's headers, or throws ``HTTPProblem/unauthenticated(reason:)``.
    package init(_ principal: @escaping @Sendable (HTTPFields) async throws -> Principal) {
        self.principal = principal
    }

    /// - Parameter tokens: those that the family finds in a request's headers. Where there is none, a page's cookie
    ///   counts; one that is no good is none, as it may be another server's of the same machine.
    package init(_ authenticator: Authenticator, tokens: @escaping @Sendable (HTTPFields) -> [String]) {
        self.init { headers in
            let offered = tokens(headers)
            if offered.isEmpty, let kept = SessionCookies(headers).accessToken {
                do {
                    return try await authenticator.principal(offering: [kept])
                } catch  where authenticator.mode == .open {
                    return authenticator.clients.demoPrincipal
                }
            }
            return try await authenticator.principal(offering: offered)
        }
    }

    package func handle(
        _ request: Request, context: ScribeContext,
        next: @concurrent (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.principal = try await principal(request.headers)
        return try await next(request, context)
    }
}

extension HTTPFields {
    /// What is in `Authorization`, without the word `Bearer` before it.
    package var bearerToken: String? {
        guard let value = self[.authorization] else { return nil }
        let scheme = "bearer"
        let first = value.prefix { $0 != " " }
        return first.lowercased() == scheme ? String(value.dropFirst(scheme.count).drop { $0 == " " }) : value
    }
}

extension ScribeContext {
    /// The principal of an authenticated route.
    package func requirePrincipal() throws -> Principal {
        guard let principal else { throw HTTPProblem.unauthenticated(reason: "No token was sent") }
        return principal
    }
}
