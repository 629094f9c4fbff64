package import ScribeDomain
package import ScribeStore

/// Reads documents, and the context that a client stores with its transaction.
package struct DocumentQueries: Sendable {
    let store: Store

    /// A document of any transaction of the business; nil if there is none.
    package func document(_ id: DocumentID, of business: BusinessID) async throws -> DocumentRecord? {
        try await store.document(id, of: business)
    }

    /// A transaction with its context and all its documents, without their texts; nil if there is none.
    package func session(
        _ key: Transaction.Key
    ) async throws -> (transaction: Transaction, context: JSONValue, documents: [DocumentRecord])? {
        try await store.session(key)
    }
}
