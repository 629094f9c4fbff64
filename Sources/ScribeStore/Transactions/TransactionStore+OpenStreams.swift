package import ScribeDomain

/// Sockets with audio that servers on one PostgreSQL database have open. A server that ends a session asks the others
/// to store the pending audio of theirs.
extension TransactionStore {
    /// Reason why a server asks the others.
    package enum StreamQuestion: Int64, Sendable {
        /// The session ends, or goes on with audio from elsewhere.
        case end = 1
        /// A new socket takes the place of the others.
        case replacement = 2
    }

    /// Whether other servers may have sockets of the same sessions.
    package var sharesStreams: Bool { database is PostgreSQLDatabase && !holder.isAlone }

    /// Notes that this server has a socket of a session open.
    package func addOpenStream(_ key: Transaction.Key) async throws {
        try await database.write(.none) { [holder] db in
            try db.run(
                """
                INSERT INTO open_streams (business_id, txn_id, owner) VALUES (?, ?, ?)
                ON CONFLICT (business_id, txn_id, owner) DO NOTHING
                """, [key.business.rawValue, key.id.rawValue, holder.id])
        }
    }

    /// Notes that this server has no socket of a session open any more.
    package func removeOpenStream(_ key: Transaction.Key) async throws {
        try await database.write(.none) { [holder] db in
            try db.run(
                "DELETE FROM open_streams WHERE business_id = ? AND txn_id = ? AND owner = ?",
                [key.business.rawValue, key.id.rawValue, holder.id])
        }
    }

    /// Asks the other servers to store the pending audio of their sockets of a session.
    /// - Returns: the number of servers that were asked.
    package func askForStreams(_ key: Transaction.Key, because question: StreamQuestion) async throws -> Int {
        try await database.write(.none) { [holder] db in
            try db.changed(
                "UPDATE open_streams SET is_asked = ? WHERE business_id = ? AND txn_id = ? AND owner <> ?",
                [question.rawValue, key.business.rawValue, key.id.rawValue, holder.id])
        }
    }

    /// Number of servers that have not answered ``askForStreams(_:because:)``.
    package func unansweredStreams(_ key: Transaction.Key) async throws -> Int {
        try await read { [holder] db in
            try db.row(
                """
                SELECT count(*) AS count FROM open_streams
                WHERE business_id = ? AND txn_id = ? AND owner <> ? AND is_asked > 0
                """, [key.business.rawValue, key.id.rawValue, holder.id])?["count"] ?? 0
        }
    }

    /// Forgets servers that did not answer, as dead ones do not.
    package func forgetUnansweredStreams(_ key: Transaction.Key) async throws {
        try await database.write(.none) { [holder] db in
            try db.run(
                "DELETE FROM open_streams WHERE business_id = ? AND txn_id = ? AND owner <> ? AND is_asked > 0",
                [key.business.rawValue, key.id.rawValue, holder.id])
        }
    }

    /// Sessions whose sockets other servers have asked this one for.
    package func askedStreams() async throws -> [(key: Transaction.Key, question: StreamQuestion)] {
        try await read { [holder] db in
            try db.rows(
                "SELECT business_id, txn_id, is_asked FROM open_streams WHERE owner = ? AND is_asked > 0", [holder.id]
            ).map {
                (
                    Transaction.Key(business: BusinessID($0["business_id"]), id: TransactionID($0["txn_id"])),
                    StreamQuestion(rawValue: $0["is_asked"]) ?? .end
                )
            }
        }
    }

    /// Answers the question of another server: the pending audio is stored.
    package func answerStream(_ key: Transaction.Key) async throws {
        try await database.write(.none) { [holder] db in
            try db.run(
                "UPDATE open_streams SET is_asked = 0 WHERE business_id = ? AND txn_id = ? AND owner = ?",
                [key.business.rawValue, key.id.rawValue, holder.id])
        }
    }
}
