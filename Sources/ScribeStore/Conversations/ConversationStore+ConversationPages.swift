package import Foundation
package import ScribeDomain

/// Conversation with its first page of segments and summaries of its photos.
package struct ConversationPage: Sendable {
    package let conversation: Conversation
    package let segments: SegmentPage
    /// Summaries of the photos. ``Store/photoPiece(_:of:from:)`` reads the pictures.
    package let photos: [PhotoSummary]
}

/// Page of a conversation's segments, in the order in which they were spoken. The cursor is the row after which the
/// next page begins.
package typealias SegmentPage = Page<ConversationSegment, Int64>

/// Photo without its picture: id, time and size.
package struct PhotoSummary: Hashable, Sendable {
    package let id: String
    package let createdAt: Date
    /// Size of the picture's base64 text, in bytes.
    package let size: Int
}

/// Reads of conversations in pages of ``Store/pageSize``. Each page is a separate read, so that no database reader
/// waits for a client.
extension ConversationStore {
    /// Size of a page, in bytes. A segment is never split.
    package static let pageSize = 256 << 10
    /// Bytes that each segment counts beside its text.
    private static let segmentSize = 300

    /// Conversation of a user with its first page; nil if the user has no such conversation.
    package func conversationPage(_ id: String, of principal: Principal) async throws -> ConversationPage? {
        try await read { db in
            guard let row = try Self.row(of: id, principal, in: db) else { return nil }
            let rowID: Int64 = row["id"]
            let photos = try db.rows(
                """
                SELECT photo_id, created_at, length(base64) AS size FROM photos WHERE conversation = ? ORDER BY id
                """, [rowID]
            ).map {
                PhotoSummary(id: $0["photo_id"], createdAt: Date(milliseconds: $0["created_at"]), size: $0["size"])
            }
            return ConversationPage(
                conversation: try Conversation(row: row), segments: try Self.segments(ofRow: rowID, after: 0, in: db),
                photos: photos)
        }
    }

    /// Page of a conversation's segments after `place`; empty if the conversation is gone.
    /// - Parameter place: `next` of the page before.
    package func segmentPage(of id: String, after place: Int64) async throws -> SegmentPage {
        try await read { db in
            let row = try db.row("SELECT id FROM conversations WHERE conversation_id = ?", [id])
            guard let rowID: Int64 = row?["id"] else { return SegmentPage(items: [], next: nil) }
            return try Self.segments(ofRow: rowID, after: place, in: db)
        }
    }

    /// Piece of a photo's base64 text, at most ``pageSize`` bytes; nil if the photo is gone.
    package func photoPiece(_ photo: String, of id: String, from offset: Int) async throws -> String? {
        try await read { db in
            try db.row(
                """
                SELECT substr(base64, ?, ?) AS piece FROM photos
                    JOIN conversations ON conversations.id = photos.conversation
                WHERE conversation_id = ? AND photo_id = ?
                """, [offset + 1, Self.pageSize, id, photo])?["piece"]
        }
    }

    private static func segments(ofRow rowID: Int64, after place: Int64, in db: any StoreSession) throws -> SegmentPage
    {
        let rows = try db.rows(
            """
            SELECT * FROM (
                SELECT segments.*, length(text) + ?1 AS size, sum(length(text) + ?1) OVER (ORDER BY id) AS total
                FROM segments WHERE conversation = ?2 AND id > ?3 ORDER BY id LIMIT ?4
            ) AS page WHERE total - size < ?4 * ?1
            """, [segmentSize, rowID, place, pageSize / segmentSize])
        let next: Int64? = try rows.last.flatMap { last in
            let id: Int64 = last["id"]
            let more = try db.row("SELECT 1 FROM segments WHERE conversation = ? AND id > ? LIMIT 1", [rowID, id])
            return more == nil ? nil : id
        }
        return SegmentPage(items: rows.map { ConversationSegment(row: $0) }, next: next)
    }
}
