import Basics
import ScribeDomain

/// Cache of decoded `request` columns of transactions.
///
/// Each column is read four times per transaction, and decoding takes longer than the statement. The key is the
/// column's bytes: a folder's name may differ in bytes alone, and Swift considers such texts equal.
final class RequestCache: Sendable {
    /// Longest cached column, in bytes. Longer ones are rare, and would take much memory.
    private static let longest = 4096

    private let requests = RecentValues<[UInt8], TransactionRequest>(limit: 256)

    /// Caches a request that is written as `text`.
    func remember(_ request: TransactionRequest, as text: String) {
        if text.utf8.count <= Self.longest { requests.remember(request, of: Array(text.utf8)) }
    }

    /// Decodes a `request` column, or returns the cached value.
    /// - Throws: `DecodingError` for an invalid request.
    func request(_ text: String) throws -> TransactionRequest {
        let key = Array(text.utf8)
        if let known = requests[key] { return known }
        let request = try StoredJSON.request(text)
        if key.count <= Self.longest { requests.remember(request, of: key) }
        return request
    }
}
