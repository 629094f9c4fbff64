import Basics
import Crypto
import Foundation
package import ScribeDomain
package import ScribeStore

/// Clients that may authenticate; replaceable while the server runs.
package final class KnownClients: Sendable {
    /// A client's present entry in the clients file.
    package struct Registration: Hashable, Sendable {
        package let principal: Principal
        /// Changes with the secret: tokens and credentials issued for an older secret become invalid.
        package let version: String

        package init(principal: Principal, secretHash: [UInt8]) {
            self.principal = principal
            version = Hex.encode(SHA256.hash(data: Data(secretHash)).prefix(6))
        }
    }

    private struct Listed {
        var registrations: [ClientID: Registration] = [:]
        /// The principal of each API key, by the key's hash.
        var keys: [[UInt8]: Principal] = [:]
    }

    private struct State {
        /// Clients of the clients file and the demo.
        var configured = Listed()
        /// Clients of the operator API.
        var seeded = Listed()
        /// Names of ended logins: their access tokens are refused.
        var endedLogins: Set<String> = []
    }

    /// Tenant of requests with a foreign token or without one, in modes that allow such requests.
    package let demoPrincipal: Principal
    private let state = LockedValue(State())

    /// Starts without clients; ``replace(_:keys:)`` and ``replaceSeeded(with:)`` add them.
    package init(demoPrincipal: Principal) {
        self.demoPrincipal = demoPrincipal
    }

    /// Replaces the configured clients. Tokens, keys and credentials of removed clients are refused from now on.
    /// - Parameter keys: API keys, for APIs without a login.
    package func replace(_ registrations: [ClientID: Registration], keys: [String: Principal]) {
        let fresh = Listed(
            registrations: registrations,
            keys: Dictionary(
                keys.map { (Self.hash(of: $0.key), $0.value) }, uniquingKeysWith: { first, _ in first }))
        state.withLock { $0.configured = fresh }
    }

    /// Replaces the clients of the operator API by those in the store.
    package func replaceSeeded(with clients: [SeedRows.SeededClient]) {
        let registrations = clients.map { seeded in
            let principal = seeded.client.principal
            return (principal.client, Registration(principal: principal, secretHash: seeded.secretHash))
        }
        let keys = clients.flatMap { seeded in seeded.keyHashes.map { ($0, seeded.client.principal) } }
        let fresh = Listed(
            registrations: Dictionary(registrations, uniquingKeysWith: { _, last in last }),
            keys: Dictionary(keys, uniquingKeysWith: { first, _ in first }))
        state.withLock { $0.seeded = fresh }
    }

    /// Name of a login in its access tokens.
    /// - Parameter hash: The hash of its first refresh token.
    package static func name(ofLogin hash: [UInt8]) -> String { Hex.encode(hash.prefix(16)) }

    /// Refuses the access tokens of logins.
    package func end(logins: [[UInt8]]) {
        state.withLock { $0.endedLogins.formUnion(logins.map(Self.name(ofLogin:))) }
    }

    /// Whether the access tokens of a login are refused.
    func hasEnded(login: String) -> Bool { state.withLock { $0.endedLogins.contains(login) } }

    package subscript(client: ClientID) -> Registration? {
        state.withLock { $0.configured.registrations[client] ?? $0.seeded.registrations[client] }
    }

    /// The principal of an API key; nil for an unknown key.
    package func principal(ofKey key: String) -> Principal? {
        let hash = Self.hash(of: key)
        return state.withLock { $0.configured.keys[hash] ?? $0.seeded.keys[hash] }
    }

    /// Hashes a key for the lookup, so that the lookup's time reveals nothing about the key.
    package static func hash(of key: String) -> [UInt8] { Array(SHA256.hash(data: Data(key.utf8))) }

    /// Ids of all clients, sorted.
    package var ids: [ClientID] {
        let known = state.withLock { Set($0.configured.registrations.keys).union($0.seeded.registrations.keys) }
        return known.union([demoPrincipal.client]).sorted { $0.rawValue < $1.rawValue }
    }

    /// The registration of a client that requests may act for; nil for an unknown client.
    ///
    /// Outside strict mode the demo client counts as registered.
    package func admitted(_ client: ClientID, in mode: AuthMode) -> Registration? {
        if let known = self[client] { return known }
        guard mode != .strict, client == demoPrincipal.client else { return nil }
        return Registration(principal: demoPrincipal, secretHash: [])
    }
}

extension KnownClients.Registration {
    /// Whether tokens for a registration's version are still valid: same tenant, same secret.
    package func isCurrent(_ principal: Principal, version: String?) -> Bool {
        self.principal == principal && self.version == version
    }
}
