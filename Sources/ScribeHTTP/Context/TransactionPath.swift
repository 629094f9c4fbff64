import Hummingbird
package import ScribeDomain

extension ScribeContext {
    /// The name of the path parameter that holds a transaction's id.
    package static let transactionParameter = "txn_id"

    /// A part of the path as it was meant, with its escapes undone; nil when it is not there, or they are broken.
    package func text(of parameter: String) -> String? {
        parameters.get(parameter).flatMap { PercentEncoding.decode($0) }
    }

    /// The transaction's id in the path.
    package var transactionText: String? { text(of: Self.transactionParameter) }

    /// The transaction in the path, in the caller's business.
    ///
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for ids that no client makes: with control
    ///   characters, or longer than 255 characters.
    package func requireTransaction() throws -> Transaction.Key {
        guard let text = transactionText, TransactionID.isValid(text) else {
            throw ScribeError.invalidRequest(field: Self.transactionParameter, problem: "is not a transaction id")
        }
        return Transaction.Key(business: try requirePrincipal().business, id: TransactionID(text))
    }
}
