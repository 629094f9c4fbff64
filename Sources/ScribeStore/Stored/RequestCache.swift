import ScribeDomain

/// What the `request` columns say that were read lately: each is read four times in a consultation, and decoding it takes
/// longer than the statement. It is looked up by the column's bytes, so that the row stays the truth: texts that Swift takes
/// for equal may spell a folder in two ways.
final class RequestCache: Sendable {
    private static let capacity = 256
    /// In bytes: longer ones are few, and would keep much.
    private static let longest = 4096

    private let requests = LockedValue<[[UInt8]: TransactionRequest]>([:])

    /// - Throws: `DecodingError` for what is no request.
    func request(_ text: String) throws -> TransactionRequest {
        let key = Array(text.utf8)
        if let known = requests.withLock({ $0[key] }) { return known }
        let request = try StoredJSON.request(text)
        guard key.count <= Self.longest else { return request }
        requests.withLock { requests in
            // All at once: cheaper than to keep an order, and whoever is still there comes back.
            if requests.count >= Self.capacity { requests.removeAll(keepingCapacity: true) }
            requests[key] = request
        }
        return request
    }
}
