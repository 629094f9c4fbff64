import ScribeDomain

/// What the `request` columns say that were read lately: each is read four times in a consultation, and decoding it takes
/// longer than the statement. It is looked up by the column's bytes, so that the row stays the truth: texts that Swift takes
/// for equal may spell a folder in two ways.
final class RequestCache: Sendable {
    /// In bytes: longer ones are few, and would keep much.
    private static let longest = 4096

    private let requests = RecentValues<[UInt8], TransactionRequest>(limit: 256)

    /// - Throws: `DecodingError` for what is no request.
    func request(_ text: String) throws -> TransactionRequest {
        let key = Array(text.utf8)
        if let known = requests[key] { return known }
        let request = try StoredJSON.request(text)
        if key.count <= Self.longest { requests.remember(request, of: key) }
        return request
    }
}
