import Basics
import Hummingbird
package import ScribeDomain

extension ScribeContext {
    /// Name of the path parameter that holds a transaction's id.
    package static let transactionParameter = "txn_id"

    /// A path parameter with its escapes decoded; nil if absent or if an escape is broken.
    package func text(of parameter: String) -> String? {
        parameters.get(parameter).flatMap { PercentEncoding.decode($0) }
    }

    /// The transaction's id in the path.
    package var transactionText: String? { text(of: Self.transactionParameter) }

    /// The transaction of the path, within the caller's business.
    ///
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an id with control characters or over 255
    ///   characters.
    package func requireTransaction() throws -> Transaction.Key {
        guard let text = transactionText, TransactionID.isValid(text) else {
            throw ScribeError.invalidRequest(field: Self.transactionParameter, problem: "is not a transaction id")
        }
        return Transaction.Key(business: try requirePrincipal().business, id: TransactionID(text))
    }
}
