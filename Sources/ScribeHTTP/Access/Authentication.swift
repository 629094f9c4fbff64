import Basics
package import HTTPTypes
import Hummingbird
package import ScribeDomain

/// Authenticates requests: sets their principal and credential in the context.
package struct Authentication: Sendable {
    private let caller: @Sendable (Request, ScribeContext) async throws -> (Principal, Credential)

    /// Authenticates by a family's own rule.
    /// - Parameter principal: Resolves the principal from headers and world, or throws
    ///   ``HTTPProblem/unauthenticated(reason:)``.
    package init(_ principal: @escaping @Sendable (HTTPFields, World) async throws -> Principal) {
        caller = { request, context in (try await principal(request.headers, context.world), .header) }
    }

    /// Authenticates by access tokens or, without any, by a page's cookie.
    /// - Parameters:
    ///   - pages: Origins of pages that may use cookies.
    ///   - tokens: Extracts the tokens from a request's headers. In open mode an invalid cookie counts as absent, since
    ///     another server of the same machine may have set it.
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

    /// Resolves the principal of a request without tokens: by its cookie, or by the mode.
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

    /// The access of routes that need it.
    package var access: RouteAccess {
        .checked { [caller] request, context in
            let (principal, credential) = try await caller(request, context)
            context.principal = principal
            context.memory?.belong(to: principal.business.rawValue)
            context.credential = credential
        }
    }
}

/// Kind of credential that authenticated a request.
package enum Credential: Hashable, Sendable {
    /// A token in a header, set by the sender.
    case header
    /// A cookie, which a browser adds to requests of any page.
    case cookie
    /// No credential: the mode requires none.
    case none
}

extension HTTPFields {
    /// The `Authorization` header without a leading `Bearer`; nil without the header.
    package var bearerToken: String? {
        guard var value = value(of: .authorization) else { return nil }
        let token = value.withUTF8 { bytes -> String? in
            let (scheme, space) = ("bearer".utf8, UInt8(ascii: " "))
            let rest = bytes.dropFirst(scheme.count)
            // The bit is set in small letters.
            guard bytes.prefix(scheme.count).elementsEqual(scheme, by: { $0 | 0x20 == $1 }),
                rest.first.map({ $0 == space }) ?? true
            else { return nil }
            return String(decoding: rest.drop { $0 == space }, as: UTF8.self)
        }
        return token ?? value
    }
}

extension ScribeContext {
    /// The principal of an authenticated route.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)`` on a route without authentication.
    package func requirePrincipal() throws -> Principal {
        guard let principal else { throw HTTPProblem.unauthenticated(reason: "No token was sent") }
        return principal
    }
}
