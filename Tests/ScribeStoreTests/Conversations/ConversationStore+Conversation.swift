import ScribeDomain

@testable import ScribeStore

extension ConversationStore {
    /// Starts a conversation with a transaction that has no documents.
    func begin(_ conversation: Conversation) async throws -> Conversation? {
        let transaction = Transaction(
            id: TransactionID(conversation.id), owner: conversation.owner,
            request: TransactionRequest(transfer: .stream), createdAt: conversation.createdAt)
        return try await begin(conversation, as: transaction, documents: [])
    }
}
