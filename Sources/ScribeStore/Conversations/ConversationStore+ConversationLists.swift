import Basics
package import Foundation
package import ScribeDomain

/// Conversations that are found, listed, named and deleted.
extension ConversationStore {
    package func setTitle(_ title: String, of id: String) async throws {
        try await database.write(.conversation(id)) { db in
            guard let row = try db.row("SELECT summary FROM conversations WHERE conversation_id = ?", [id]),
                case .object(var summary) = try StoredJSON.value(row["summary"]) as JSONValue
            else { return }
            summary["title"] = .string(title)
            try db.run(
                "UPDATE conversations SET summary = ? WHERE conversation_id = ?",
                [StoredJSON.text(JSONValue.object(summary)), id])
        }
    }

    /// Conversations that silence has ended, by the rule of ``Conversation/isOverdue(at:)``; at most 100, oldest first.
    package func overdueConversations(at now: Date) async throws -> [Conversation] {
        try await read { db in
            try db.rows(
                """
                SELECT * FROM conversations WHERE status = 'in_progress' AND finished_at + timeout * 1000 <= ?
                ORDER BY finished_at LIMIT 100
                """,
                [now.milliseconds]
            ).map { try Conversation(row: $0) }
        }
    }

    /// Next time at which silence ends a conversation, if no segment is added before; nil without conversations.
    package func nextSilence() async throws -> Date? {
        try await read { db in
            let row = try db.row(
                "SELECT min(finished_at + timeout * 1000) AS time FROM conversations WHERE status = 'in_progress'")
            return (row?["time"] as Int64?).map(Date.init(milliseconds:))
        }
    }

    /// Conversations that are being processed, or were when the server stopped; at most 100, oldest first.
    package func processingConversations() async throws -> [Conversation] {
        try await read { db in
            try db.rows("SELECT * FROM conversations WHERE status = 'processing' ORDER BY finished_at LIMIT 100")
                .map { try Conversation(row: $0) }
        }
    }

    /// Conversation of a user; nil if the user has no such conversation.
    package func conversation(_ id: String, of principal: Principal) async throws -> Conversation? {
        try await read { try Self.row(of: id, principal, in: $0).map { try Conversation(row: $0) } }
    }

    /// Ids of the conversations that ``conversations(of:_:)`` finds, in the same order.
    package func conversationIDs(of principal: Principal, _ query: ConversationQuery) async throws -> [String] {
        try await read { db in
            try Self.rows("conversation_id", of: principal, query, in: db).map { $0["conversation_id"] }
        }
    }

    /// Conversations of a user that match a query, newest first.
    package func conversations(
        of principal: Principal, _ query: ConversationQuery
    ) async throws -> [Conversation] {
        try await read { try Self.rows("*", of: principal, query, in: $0).map { try Conversation(row: $0) } }
    }

    /// Deletes a conversation of a user.
    /// - Parameter cascades: whether the user's memories of it are deleted too.
    /// - Returns: false if the user has no such conversation.
    package func deleteConversation(
        _ id: String, of principal: Principal, cascades: Bool = false
    ) async throws -> Bool {
        try await database.write(.conversation(id), .user(principal)) { db in
            guard let row = try Self.row(of: id, principal, in: db) else { return false }
            if cascades {
                try db.run(
                    "DELETE FROM memories WHERE conversation_id = ? AND business_id = ? AND user_id = ?",
                    [id, principal.business.rawValue, principal.user.rawValue])
            }
            try db.run("DELETE FROM conversations WHERE id = ?", [row["id"] as Int64])
            try db.run("DELETE FROM leases WHERE name = ?", [Self.lease(ofConversation: id)])
            return true
        }
    }
}
