package import ScribeDomain

/// Sockets with audio that servers on one PostgreSQL database have open. A server that ends a session asks the others
/// to store the pending audio of theirs.
extension Store {
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
    package func askForStreams(_ key: Transaction.Key) async throws -> Int {
        try await database.write(.none) { [holder] db in
            try db.changed(
                "UPDATE open_streams SET is_asked = 1 WHERE business_id = ? AND txn_id = ? AND owner <> ?",
                [key.business.rawValue, key.id.rawValue, holder.id])
        }
    }

    /// Number of servers that have not answered ``askForStreams(_:)``.
    package func unansweredStreams(_ key: Transaction.Key) async throws -> Int {
        try await read { [holder] db in
            try db.row(
                """
                SELECT count(*) AS count FROM open_streams
                WHERE business_id = ? AND txn_id = ? AND owner <> ? AND is_asked = 1
                """, [key.business.rawValue, key.id.rawValue, holder.id])?["count"] ?? 0
        }
    }

    /// Forgets servers that did not answer, as dead ones do not.
    package func forgetUnansweredStreams(_ key: Transaction.Key) async throws {
        try await database.write(.none) { [holder] db in
            try db.run(
                "DELETE FROM open_streams WHERE business_id = ? AND txn_id = ? AND owner <> ? AND is_asked = 1",
                [key.business.rawValue, key.id.rawValue, holder.id])
        }
    }

    /// Sessions whose sockets other servers have asked this one for.
    package func askedStreams() async throws -> [Transaction.Key] {
        try await read { [holder] db in
            try db.rows("SELECT business_id, txn_id FROM open_streams WHERE owner = ? AND is_asked = 1", [holder.id])
                .map { Transaction.Key(business: BusinessID($0["business_id"]), id: TransactionID($0["txn_id"])) }
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
