import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain

/// Finds out who a request acts for.
struct Authentication: RouterMiddleware {
    typealias Context = ScribeContext

    let tokens: AccessTokens
    let mode: AuthMode
    let clients: KnownClients

    func handle(
        _ request: Request, context: ScribeContext,
        next: (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.principal = try await principal(of: request.headers)
        return try await next(request, context)
    }

    /// `Authorization: Bearer` first, else the raw `auth` header; when both are there, either is enough (1.3).
    private func principal(of headers: HTTPFields) async throws -> Principal {
        let offered = [headers[.authorization].map(Self.bearerToken), headers[.auth]].compactMap { $0 }
            .filter { !$0.isEmpty }
        guard !offered.isEmpty else {
            guard mode == .open else { throw ScribeError.unauthenticated(reason: "No token was sent") }
            return clients.demoPrincipal
        }
        var reason = ""
        var isForeign = false
        for token in offered.removingDuplicates() {
            switch await tokens.verdict(on: token) {
            case .ours(let principal, let version):
                if clients.registrations.isCurrent(principal, version: version) { return principal }
                reason = "The token's client is not known any more"
            case .foreign where mode != .strict: isForeign = true
            case .foreign: reason = "The token was not issued here"
            case .refused(let why): reason = why
            }
        }
        if isForeign { return clients.demoPrincipal }
        throw ScribeError.unauthenticated(reason: reason)
    }

    private static func bearerToken(_ value: String) -> String {
        let scheme = "bearer"
        let first = value.prefix { $0 != " " }
        return first.lowercased() == scheme ? String(value.dropFirst(scheme.count).drop { $0 == " " }) : value
    }
}

extension ScribeContext {
    /// The principal of an authenticated route.
    func requirePrincipal() throws -> Principal {
        guard let principal else { throw ScribeError.unauthenticated(reason: "No token was sent") }
        return principal
    }
}
