import Foundation
import HTTPTypes
import ScribeHTTP

/// Parses the key of a request (streaming.md 1.2): `Authorization: Token` or `Bearer`, else the second subprotocol.
///
/// Browsers cannot set headers on a WebSocket, so they send the key as a subprotocol.
struct ListenCredentials: Hashable, Sendable {
    let key: String?
    /// Whether the key followed `Bearer`, as granted tokens do.
    let isBearer: Bool
    /// Subprotocol to return in the handshake; never the key itself.
    let agreed: String?
    /// Whether the key came as a subprotocol.
    let isSubprotocol: Bool

    init(_ headers: HTTPFields) {
        let offered = headers[values: .secWebSocketProtocol]
            .flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        let scheme = offered.first.flatMap { ["token", "bearer"].contains($0.lowercased()) ? $0 : nil }
        agreed = scheme
        if let value = headers.value(of: .authorization) {
            let words = value.split(separator: " ", maxSplits: 1)
            let named = words.first.map { $0.lowercased() }
            let isKnown = words.count == 2 && (named == "token" || named == "bearer")
            key = isKnown ? String(words[1]) : nil
            isBearer = named == "bearer"
            isSubprotocol = false
        } else {
            key = scheme != nil && offered.count > 1 ? offered[1] : nil
            isBearer = scheme?.lowercased() == "bearer"
            isSubprotocol = scheme != nil
        }
    }
}
