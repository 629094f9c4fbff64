import Basics
import ScribeDomain

/// Cache of decoded `request` columns of transactions.
///
/// Each column is read four times per transaction, and decoding takes longer than the statement. The key is the
/// column's bytes: a folder's name may differ in bytes alone, and Swift considers such texts equal.
final class RequestCache: Sendable {
    /// Longest cached column, in bytes. Longer ones are rare, and would take much memory.
    private static let longest = 4096

    /// Bytes of a column. An array would hash each byte by itself.
    private struct Column: Hashable, Sendable {
        let bytes: [UInt8]

        init(_ text: String) { bytes = Array(text.utf8) }

        func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }

    private let requests = RecentValues<Column, TransactionRequest>(limit: 256)

    /// Caches a request that is written as `text`.
    func remember(_ request: TransactionRequest, as text: String) {
        if text.utf8.count <= Self.longest { requests.remember(request, of: Column(text)) }
    }

    /// Decodes a `request` column, or returns the cached value.
    /// - Throws: `DecodingError` for an invalid request.
    func request(_ text: String) throws -> TransactionRequest {
        let key = Column(text)
        if let known = requests[key] { return known }
        let request = try StoredJSON.request(text)
        if key.bytes.count <= Self.longest { requests.remember(request, of: key) }
        return request
    }
}
