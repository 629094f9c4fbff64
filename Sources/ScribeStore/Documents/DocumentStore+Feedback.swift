import Foundation
package import ScribeDomain

extension DocumentStore {
    /// Stores feedback on a part of a transaction. Each part takes feedback once.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/feedbackAlreadySubmitted``.
    package func addFeedback(_ feedback: Feedback, to key: Transaction.Key) async throws {
        try await database.write(.transaction(key)) { db in
            let row = try TransactionStore.requireTransactionRow(key, in: db)
            try Limits.require(
                try Self.count("feedback", of: row["id"], in: db) + 1, atMost: Limits.feedback, "entity")
            try db.insert(into: "feedback", onConflict: .keep(key: ["transaction_id", "entity"])).values([
                "feedback_id": feedback.id, "transaction_id": row["id"] as Int64, "entity": feedback.entity,
                "min_rating": feedback.scale.lowerBound, "max_rating": feedback.scale.upperBound,
                "rating": feedback.rating, "comments": feedback.comments,
                "created_at": feedback.createdAt.milliseconds,
            ])
            guard try db.changedRows() > 0 else { throw ScribeError.feedbackAlreadySubmitted }
        }
    }

    /// Feedback on a transaction, in the order of submission.
    /// - Throws: ``ScribeError/transactionNotFound``.
    package func feedback(on key: Transaction.Key) async throws -> [Feedback] {
        try await read { db in
            let row = try TransactionStore.requireTransactionRow(key, in: db)
            return try db.rows("SELECT * FROM feedback WHERE transaction_id = ? ORDER BY id", [row["id"] as Int64])
                .map { row in
                    Feedback(
                        stored: row["feedback_id"], entity: row["entity"],
                        scale: (row["min_rating"] as Int)...(row["max_rating"] as Int), rating: row["rating"],
                        comments: row["comments"], createdAt: Date(milliseconds: row["created_at"])
                    )
                }
        }
    }
}
