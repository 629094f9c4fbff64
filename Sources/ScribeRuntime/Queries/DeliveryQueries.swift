package import ScribeDomain
package import ScribeStore

/// Reads webhook registrations and deliveries.
package struct DeliveryQueries: Sendable {
    let store: Store

    /// Registrations of all businesses, the oldest first.
    package func webhooks() async throws -> [Webhook] { try await store.webhooks(of: nil) }

    /// Registrations of a business in a style, the oldest first.
    package func webhooks(_ style: Webhook.Style, of business: BusinessID) async throws -> [Webhook] {
        try await store.webhooks(of: business).filter { $0.style == style }
    }

    /// Deliveries of all businesses, the newest first.
    package func list(_ filter: DeliveryFilter) async throws -> [DeliveryRecord] {
        try await store.deliveries(filter)
    }

    /// A delivery; nil if it does not exist, or not any more.
    package func delivery(_ id: Int64) async throws -> DeliveryRecord? { try await store.delivery(id) }

    /// The numbers of registrations, of pending deliveries and of failed ones.
    package func counts() async throws -> (webhooks: Int, pending: Int, failed: Int) {
        try await store.deliveryCounts()
    }
}
