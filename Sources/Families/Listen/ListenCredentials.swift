import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// The key that a request brings (streaming.md 1.2): in `Authorization`, after `Token` or `Bearer`, or, from those who can
/// set no headers, as the second subprotocol.
struct ListenCredentials: Hashable, Sendable {
    let key: String?
    /// Whether the key came after `Bearer`, as granted tokens do.
    let isBearer: Bool
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
