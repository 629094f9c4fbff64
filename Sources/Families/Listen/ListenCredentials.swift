import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// The key that a request brings (streaming.md 1.2): in `Authorization`, after `Token` or `Bearer`, or, from those who can
/// set no headers, as the second subprotocol.
struct ListenCredentials: Hashable, Sendable {
    let key: String?
    /// The subprotocol to agree on: never the key.
    let agreed: String?
    /// Whether the key came so.
    let isSubprotocol: Bool

    init(_ headers: HTTPFields) {
        let offered = headers[values: .secWebSocketProtocol]
            .flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        let scheme = offered.first.flatMap { ["token", "bearer"].contains($0.lowercased()) ? $0 : nil }
        agreed = scheme
        if let value = headers[.authorization] {
            let words = value.split(separator: " ", maxSplits: 1)
            let isKnown = words.count == 2 && ["token", "bearer"].contains(words[0].lowercased())
            key = isKnown ? String(words[1]) : nil
            isSubprotocol = false
        } else {
            key = scheme != nil && offered.count > 1 ? offered[1] : nil
            isSubprotocol = scheme != nil
        }
    }
}

extension Authenticator {
    /// Whose they are: a key's, or a token's.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    func principal(_ credentials: ListenCredentials) async throws -> Principal {
        if let key = credentials.key, let principal = clients.principal(ofKey: key) { return principal }
        return try await principal(offering: [credentials.key].compactMap(\.self))
    }
}
