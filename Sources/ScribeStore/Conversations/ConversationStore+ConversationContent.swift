package import Foundation
package import ScribeDomain

/// Content of conversations: segments and photos.
extension ConversationStore {
    /// Segments of a conversation, in the order in which they were spoken.
    package func segments(of id: String) async throws -> [ConversationSegment] {
        try await read { db in
            try db.rows(
                """
                SELECT segments.* FROM segments JOIN conversations ON conversations.id = segments.conversation
                WHERE conversation_id = ? ORDER BY segments.id
                """, [id]
            ).map { ConversationSegment(row: $0) }
        }
    }

    /// Text of a conversation's last segment; nil without segments.
    package func lastSegmentText(of id: String) async throws -> String? {
        try await read { db in
            try db.row(
                """
                SELECT text FROM segments WHERE id = (
                    SELECT max(segments.id) FROM segments JOIN conversations ON conversations.id = segments.conversation
                    WHERE conversation_id = ?
                )
                """, [id]
            ).map { $0["text"] }
        }
    }

    package func photos(of id: String) async throws -> [ConversationPhoto] {
        try await read { db in
            try db.rows(
                """
                SELECT photos.* FROM photos JOIN conversations ON conversations.id = photos.conversation
                WHERE conversation_id = ? ORDER BY photos.id
                """, [id]
            ).map { row in
                ConversationPhoto(
                    id: row["photo_id"], base64: row["base64"], createdAt: Date(milliseconds: row["created_at"]))
            }
        }
    }

    /// Sets the speaker of segments.
    /// - Parameters:
    ///   - segments: ids of the segments.
    ///   - person: id of the person who spoke; nil for the user and for an unknown speaker.
    package func assign(_ segments: [String], of id: String, isUser: Bool, person: String?) async throws {
        guard !segments.isEmpty else { return }
        try await database.write(.conversation(id)) { db in
            try db.run(
                """
                UPDATE segments SET is_user = ?, person_id = ?
                WHERE conversation = (SELECT id FROM conversations WHERE conversation_id = ?)
                    AND segment_id \(db.isAmong(4))
                """,
                [isUser, person, id, try StoredJSON.text(segments)])
        }
    }

    /// Adds a photo to a conversation that is in progress.
    /// - Returns: false if the conversation has ended, or would exceed ``Limits/photos`` or ``Limits/allPhotos``.
    /// - Throws: ``ScribeError/storageQuotaExceeded``.
    package func addPhoto(_ photo: ConversationPhoto, to id: String, at now: Date) async throws -> Bool {
        try await database.write(.conversation(id)) { db in
            guard
                let row = try db.row(
                    """
                    SELECT id, business_id, (SELECT count(*) FROM photos WHERE conversation = conversations.id) AS photos,
                        (SELECT coalesce(sum(length(base64)), 0) FROM photos WHERE conversation = conversations.id) AS size
                    FROM conversations WHERE conversation_id = ? AND status = 'in_progress'
                    """, [id]), (row["photos"] as Int) < Limits.photos,
                (row["size"] as Int) + photo.base64.utf8.count <= Limits.allPhotos
            else { return false }
            try store.audio.withinQuota(of: BusinessID(row["business_id"]), in: db) {
                try db.insert(into: "photos").values([
                    "conversation": row["id"] as Int64, "photo_id": photo.id, "base64": photo.base64,
                    "created_at": photo.createdAt.milliseconds,
                ])
            }
            try db.run(
                "UPDATE conversations SET finished_at = ?1 WHERE id = ?2 AND finished_at < ?1",
                [now.milliseconds, row["id"] as Int64])
            return true
        }
    }

    /// Whether a conversation has neither segments nor photos.
    package func isEmptyConversation(_ id: String) async throws -> Bool {
        try await read { db in
            try db.row(
                """
                SELECT 1 FROM conversations WHERE conversation_id = ? AND (
                    EXISTS (SELECT 1 FROM segments WHERE conversation = conversations.id)
                    OR EXISTS (SELECT 1 FROM photos WHERE conversation = conversations.id))
                """, [id]) == nil
        }
    }

    // MARK: Within a SQL transaction

    static func insert(_ segment: ConversationSegment, conversation: Int64, in db: any StoreSession) throws {
        try db.insert(into: "segments").values([
            "conversation": conversation, "segment_id": segment.id, "text": segment.text,
            "speaker": segment.speaker, "is_user": segment.isUser, "person_id": segment.personID,
            "start": segment.start, "end": segment.end, "provider": segment.provider,
            "confidence": segment.confidence,
        ])
    }
}

extension ConversationSegment {
    init(row: StoredRow) {
        self.init(
            id: row["segment_id"], text: row["text"], speaker: row["speaker"], isUser: row["is_user"],
            personID: row["person_id"], start: row["start"], end: row["end"], provider: row["provider"],
            confidence: row["confidence"])
    }
}
