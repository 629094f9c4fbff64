package import HTTPTypes
package import Hummingbird
package import ScribeDomain

/// Finds out who a request acts for.
package struct Authentication: RouterMiddleware {
    package typealias Context = ScribeContext

    private let caller: @Sendable (Request, ScribeContext) async throws -> (Principal, Credential)

    /// - Parameter principal: finds it in a world by a request's headers, or throws
    ///   ``HTTPProblem/unauthenticated(reason:)``.
    package init(_ principal: @escaping @Sendable (HTTPFields, World) async throws -> Principal) {
        caller = { request, context in (try await principal(request.headers, context.world), .header) }
    }

    /// - Parameters:
    ///   - pages: which of them may use cookies.
    ///   - tokens: those that the family finds in a request's headers. Where there is none, a page's cookie counts; one
    ///     that is no good is none, as it may be another server's of the same machine.
    package init(pages: PageOrigins, tokens: @escaping @Sendable (HTTPFields) -> [String]) {
        caller = { request, context in
            let authenticator = context.world.authenticator
            let offered = tokens(request.headers)
            guard offered.isEmpty else { return (try await authenticator.principal(offering: offered), .header) }
            let (principal, credential) = try await Self.unsent(request.headers, authenticator)
            try pages.require(request, context)
            return (principal, credential)
        }
    }

    /// Who a request acts for that carries no token of its own.
    private static func unsent(
        _ headers: HTTPFields, _ authenticator: Authenticator
    ) async throws -> (Principal, Credential) {
        guard let kept = SessionCookies(headers).accessToken else {
            return (try await authenticator.principal(offering: []), .none)
        }
        do {
            return (try await authenticator.principal(offering: [kept]), .cookie)
        } catch  where authenticator.mode == .open {
            return (authenticator.clients.demoPrincipal, .none)
        }
    }

    package func handle(
        _ request: Request, context: ScribeContext,
        next: @concurrent (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let (principal, credential) = try await caller(request, context)
        context.principal = principal
        context.memory?.belong(to: principal.business)
        context.credential = credential
        return try await next(request, context)
    }
}

/// What vouches for a request.
package enum Credential: Hashable, Sendable {
    /// A token that its sender has put there.
    case header
    /// A browser has added it, whichever page asks.
    case cookie
    /// Nothing: none is asked for.
    case none
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
