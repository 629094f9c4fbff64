package import ScribeDomain
package import ScribeStore

/// Reads devices' conversations with their segments and photos, and memories.
package struct ConversationQueries: Sendable {
    let store: Store

    /// A user's conversations, newest first.
    package func list(of principal: Principal, _ query: Store.ConversationQuery) async throws -> [Conversation] {
        try await store.conversations(of: principal, query)
    }

    /// The ids of the conversations that ``list(of:_:)`` finds, in its order.
    package func ids(of principal: Principal, _ query: Store.ConversationQuery) async throws -> [String] {
        try await store.conversationIDs(of: principal, query)
    }

    /// A user's own conversation, or nil.
    package func conversation(_ id: String, of principal: Principal) async throws -> Conversation? {
        try await store.conversation(id, of: principal)
    }

    /// A user's own conversation with its first segments and a list of its photos, or nil.
    package func page(_ id: String, of principal: Principal) async throws -> ConversationPage? {
        try await store.conversationPage(id, of: principal)
    }

    /// A page of a conversation's segments.
    /// - Parameter place: `next` of the page before.
    package func segmentPage(of id: String, after place: Int64) async throws -> SegmentPage {
        try await store.segmentPage(of: id, after: place)
    }

    /// All segments of a conversation, in spoken order.
    package func segments(of id: String) async throws -> [ConversationSegment] {
        try await store.segments(of: id)
    }

    /// All photos of a conversation with their image data, in the order of upload.
    package func photos(of id: String) async throws -> [ConversationPhoto] { try await store.photos(of: id) }

    /// A part of a photo's base64, at most ``Store/pageSize`` bytes; nil if the photo is gone.
    package func photoPiece(_ photo: String, of id: String, from offset: Int) async throws -> String? {
        try await store.photoPiece(photo, of: id, from: offset)
    }

    /// Whether a conversation has neither segments nor photos.
    package func isEmpty(_ id: String) async throws -> Bool { try await store.isEmptyConversation(id) }

    /// Memory to reserve before a user's memories are read and encoded, in bytes.
    package func memoryListSize(of principal: Principal) async throws -> Int {
        try await 3 * store.memoryBytes(of: principal)
    }

    /// A user's memories, newest first.
    /// - Parameter categories: nil for all.
    package func memories(
        of principal: Principal, categories: [String]?, offset: Int, limit: Int
    ) async throws -> [Memory] {
        try await store.memories(of: principal, categories: categories, offset: offset, limit: limit)
    }
}
