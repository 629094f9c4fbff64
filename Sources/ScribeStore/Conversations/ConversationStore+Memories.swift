package import Foundation
package import ScribeDomain

extension ConversationStore {
    /// Stores a memory that a person has added.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` if the user has ``Limits/memories`` already.
    package func addMemory(_ memory: Memory, of principal: Principal) async throws {
        try await database.write(.user(principal)) { db in
            let count = try Self.countOfMemories(of: principal, in: db)
            try Limits.require(count + 1, atMost: Limits.memories, "memories")
            try Self.insert(memory, of: principal, unlessKnown: false, in: db)
        }
    }

    /// Memories of a user, newest first.
    /// - Parameter categories: categories of the wanted memories; nil for all.
    package func memories(
        of principal: Principal, categories: [String]?, offset: Int, limit: Int
    ) async throws -> [Memory] {
        try await read { db in
            try db.rows(
                """
                SELECT * FROM memories WHERE business_id = ?1 AND user_id = ?2
                    AND (CAST(?3 AS TEXT) IS NULL OR category \(db.isAmong(3)))
                ORDER BY created_at DESC, id DESC LIMIT ?4 OFFSET ?5
                """,
                [
                    principal.business.rawValue, principal.user.rawValue,
                    try categories.map { try StoredJSON.text($0) },
                    limit, offset,
                ]
            ).map { Memory(row: $0) }
        }
    }

    /// Size of a user's memories, in bytes of their texts.
    package func memoryBytes(of principal: Principal) async throws -> Int {
        try await read { db in
            let row = try db.row(
                """
                SELECT coalesce(sum(300 + length(content)), 0) AS size FROM memories
                WHERE business_id = ? AND user_id = ?
                """, [principal.business.rawValue, principal.user.rawValue])
            return row.map { $0["size"] } ?? 0
        }
    }

    /// Changes a memory of a user; nil leaves a property unchanged. New content marks the memory as edited.
    /// - Returns: false if the user has no such memory.
    package func changeMemory(
        _ id: String, of principal: Principal, content: String? = nil, visibility: String? = nil, at now: Date
    ) async throws -> Bool {
        try await database.write(.user(principal)) { db in
            try db.run(
                """
                UPDATE memories SET content = coalesce(?1, content), folded = coalesce(?7, folded),
                    visibility = coalesce(?2, visibility), updated_at = ?3,
                    is_edited = CASE WHEN CAST(?1 AS TEXT) IS NULL THEN is_edited ELSE 1 END
                WHERE memory_id = ?4 AND business_id = ?5 AND user_id = ?6
                """,
                [
                    content, visibility, now.milliseconds, id, principal.business.rawValue, principal.user.rawValue,
                    content?.lowercased(),
                ])
            return try db.changedRows() > 0
        }
    }

    /// Deletes a memory of a user.
    /// - Returns: false if the user has no such memory.
    package func deleteMemory(_ id: String, of principal: Principal) async throws -> Bool {
        try await database.write(.user(principal)) { db in
            try db.run(
                "DELETE FROM memories WHERE memory_id = ? AND business_id = ? AND user_id = ?",
                [id, principal.business.rawValue, principal.user.rawValue])
            return try db.changedRows() > 0
        }
    }

    // MARK: Within a SQL transaction

    static func countOfMemories(of principal: Principal, in db: any StoreSession) throws -> Int {
        let row = try db.row(
            "SELECT count(*) AS count FROM memories WHERE business_id = ? AND user_id = ?",
            [principal.business.rawValue, principal.user.rawValue])
        return row?["count"] ?? 0
    }

    /// Inserts a memory of a user.
    /// - Parameter unlessKnown: whether a memory is left out if the user has its content already, compared in lower
    ///   case.
    static func insert(
        _ memory: Memory, of principal: Principal, unlessKnown: Bool, in db: any StoreSession
    ) throws {
        try db.run(
            """
            INSERT INTO memories (
                memory_id, business_id, user_id, conversation_id, content, category, visibility, created_at, updated_at,
                folded
            ) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?11 WHERE ?10 = 0 OR NOT EXISTS (
                SELECT 1 FROM memories WHERE business_id = ?2 AND user_id = ?3 AND folded = ?11
            )
            """,
            [
                memory.id, principal.business.rawValue, principal.user.rawValue, memory.conversation, memory.content,
                memory.category, memory.visibility, memory.createdAt.milliseconds, memory.updatedAt.milliseconds,
                unlessKnown, memory.content.lowercased(),
            ])
    }
}

extension Memory {
    init(row: StoredRow) {
        self.init(
            id: row["memory_id"], content: row["content"], category: row["category"], visibility: row["visibility"],
            createdAt: Date(milliseconds: row["created_at"]), updatedAt: Date(milliseconds: row["updated_at"]),
            conversation: row["conversation_id"], isEdited: row["is_edited"])
    }
}
