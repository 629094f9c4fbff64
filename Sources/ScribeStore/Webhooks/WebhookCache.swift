import Basics
import ScribeDomain

/// Webhooks of businesses, for the writes of the one process that registers them.
///
/// A registration is not committed yet when a later write of its group reads it, and the group may be rolled back. So
/// nothing is cached from the request of a registration to its end.
final class WebhookCache: Sendable {
    private struct State {
        var known: [BusinessID: [Webhook]] = [:]
        var registrations = 0
    }

    /// Most businesses, to bound the memory.
    private static let limit = 1000

    private let state = LockedValue(State())

    /// Runs a write that changes registrations.
    func changing<Value>(_ write: () async throws -> Value) async rethrows -> Value {
        count(1)
        defer { count(-1) }
        return try await write()
    }

    private func count(_ change: Int) {
        state.withLock { state in
            state.registrations += change
            state.known = [:]
        }
    }

    /// Webhooks of a business, read within a write.
    func webhooks(of business: BusinessID, _ read: () throws -> [Webhook]) throws -> [Webhook] {
        if let known = state.withLock({ $0.known[business] }) { return known }
        let found = try read()
        state.withLock { state in
            guard state.registrations == 0 else { return }
            if state.known.count >= Self.limit { state.known = [:] }
            state.known[business] = found
        }
        return found
    }
}

extension WebhookStore {
    /// Runs a write that changes registrations of webhooks.
    func changingWebhooks<Value>(_ write: () async throws -> Value) async rethrows -> Value {
        guard let webhookCache = store.webhookCache else { return try await write() }
        return try await webhookCache.changing(write)
    }

    /// Webhooks of a business, within a write.
    func all(of business: BusinessID, in db: any StoreSession) throws -> [Webhook] {
        guard let webhookCache = store.webhookCache else { return try Self.all(of: business, in: db) }
        return try webhookCache.webhooks(of: business) { try Self.all(of: business, in: db) }
    }
}
