import Hummingbird
import ScribeDomain

extension ScribeContext {
    /// The name of the path parameter that holds a transaction's id.
    static let transactionParameter = "txn_id"

    /// The id in the path as it was meant, with its escapes undone.
    var transactionText: String? { parameters.get(Self.transactionParameter).flatMap { PercentEncoding.decode($0) } }

    /// The transaction in the path, in the caller's business.
    ///
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for ids that no client makes: with control
    ///   characters, or longer than 255 characters.
    func requireTransaction() throws -> Transaction.Key {
        guard let text = transactionText, !text.isEmpty, text.unicodeScalars.count <= 255, text.isPlain
        else { throw ScribeError.invalidRequest(field: Self.transactionParameter, problem: "is not a transaction id") }
        return Transaction.Key(business: try requirePrincipal().business, id: TransactionID(text))
    }
}
