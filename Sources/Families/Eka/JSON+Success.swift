import Basics
import ScribeDomain

extension JSON {
    /// Builds the usual answer to a write: `{"status":"success","message":…}`.
    ///
    /// An answer about a transaction also has `txn_id` and `b_id`: the older iOS SDK requires all four texts (C-104).
    /// - Parameter more: An object with further members.
    static func success(_ message: String, _ key: Transaction.Key? = nil, with more: JSON = [:]) -> JSON {
        let members: JSON = [
            "status": "success", "message": .string(message), "txn_id": key.map { .string($0.id.rawValue) },
            "b_id": key.map { .string($0.business.rawValue) },
        ]
        return members.adding(more)
    }
}
