import ScribeDomain

/// Tokens whose signature was verified lately, with what they say: the same one comes with every request of a client,
/// and its signature does not change. Expiry is not remembered but asked anew each time.
package final class VerifiedTokens<Claims: Sendable>: Sendable {
    private let capacity: Int
    private let claims = LockedValue<[String: Claims]>([:])

    package init(capacity: Int = 4096) { self.capacity = capacity }

    package subscript(token: String) -> Claims? { claims.withLock { $0[token] } }

    package func remember(_ claims: Claims, of token: String) {
        self.claims.withLock { known in
            // All at once: cheaper than to keep an order, and whoever is still there comes back.
            if known.count >= capacity { known.removeAll(keepingCapacity: true) }
            known[token] = claims
        }
    }
}
