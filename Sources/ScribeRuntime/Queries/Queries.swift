package import ScribeStore

/// Read-only queries for lists and details, in JSON and on pages. They know nothing of HTTP.
package struct Queries: Sendable {
    package let recordings: RecordingQueries
    package let documents: DocumentQueries
    package let deliveries: DeliveryQueries
    package let templates: TemplateQueries
    package let conversations: ConversationQueries
    package let objects: ObjectQueries
    package let accounts: AccountQueries
    package let storage: StorageQueries

    package init(store: Store) {
        recordings = RecordingQueries(store: store)
        documents = DocumentQueries(store: store)
        deliveries = DeliveryQueries(store: store)
        templates = TemplateQueries(store: store)
        conversations = ConversationQueries(store: store)
        objects = ObjectQueries(store: store)
        accounts = AccountQueries(store: store)
        storage = StorageQueries(store: store)
    }
}
