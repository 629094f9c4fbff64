package import ScribeDomain
package import ScribeStore

/// Reads that join several answers of the store, or decide about them.
extension Store {
    /// The timeline of a transaction, also of a deleted one; nil if there is none.
    package func timeline(of key: Transaction.Key) async throws -> RecordingTimeline? {
        guard let detail = try await transactions.recording(key) else { return nil }
        let filter = DeliveryFilter(
            session: key.id.rawValue, business: key.business, limit: RecordingTimeline.maxDeliveries)
        return RecordingTimeline(detail, deliveries: try await webhooks.deliveries(filter))
    }

    /// Settings of a shared database that risk acknowledged data, each as a sentence; nil for a database of one server,
    /// whose settings are the server's own.
    package func sharedRisks() async -> [String]? {
        guard isShared else { return nil }
        return try? await risks()
    }
}

extension AudioStore {
    /// The objects with these keys, in the order of the keys, which must be that of their bytes; nil if one is missing.
    ///
    /// A query reads a thousand keys, of which hardly any is between these.
    package func objects(business: BusinessID, bucket: String, keys: [String]) async throws -> [StoredObject]? {
        var found: [StoredObject] = []
        var (missing, after) = (keys[...], "")
        while let next = missing.first {
            let page = try await objects(business: business, bucket: bucket, from: next, after: after, limit: 1000)
            for object in page where object.key == missing.first {
                found.append(object)
                missing.removeFirst()
            }
            guard let last = page.last?.key, missing.first.map({ last < $0 }) ?? true else { return nil }
            after = last
        }
        return found
    }
}

extension WebhookStore {
    /// Registrations of a business in a style, the oldest first.
    package func all(_ style: Webhook.Style, of business: BusinessID) async throws -> [Webhook] {
        try await all(of: business).filter { $0.style == style }
    }
}

extension ConversationStore {
    /// Memory to reserve before a user's memories are read and encoded, in bytes.
    package func memoryListSize(of principal: Principal) async throws -> Int {
        try await 3 * memoryBytes(of: principal)
    }
}

extension TemplateStore {
    /// Memory to reserve before a list of a business's own templates or sections is read and encoded, in bytes.
    package func templateListSize(of business: BusinessID) async throws -> Int {
        // The rows, their values, and the answer.
        try await 3 * templateBytes(of: business)
    }
}
