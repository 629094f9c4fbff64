import Foundation
import ScribeDomain

/// Part of a store: the operations on one subject. Each is one SQL transaction, or several in batches.
///
/// A method that takes a session runs within the SQL transaction of its caller, which may be another part.
protocol StorePart: Sendable {
    var store: Store { get }
}

extension StorePart {
    var database: any StoreEngine { store.database }
    var policies: RecordingPolicies { store.policies }
    var vocabularies: EventVocabularies { store.vocabularies }
    var holder: LeaseHolder { store.holder }
    var quotas: Quotas { store.quotas }
    var requests: RequestCache { store.requests }
    var transcribesOnArrival: Bool { store.transcribesOnArrival }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value {
        try await database.read(body)
    }
}

extension Store {
    package var accounts: AccountStore { AccountStore(store: self) }
    package var audio: AudioStore { AudioStore(store: self) }
    package var conversations: ConversationStore { ConversationStore(store: self) }
    package var documents: DocumentStore { DocumentStore(store: self) }
    package var templates: TemplateStore { TemplateStore(store: self) }
    package var webhooks: WebhookStore { WebhookStore(store: self) }
    package var work: WorkStore { WorkStore(store: self) }
    package var transactions: TransactionStore { TransactionStore(store: self) }
}
