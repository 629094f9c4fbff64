import ScribeDomain

/// Room for each tenant by itself, so that none takes that of others.
package final class TenantSlots: Sendable {
    private let count: Int
    private let slots = LockedValue<[String: Slots]>([:])

    /// - Parameter count: how many of one tenant's run at the same time.
    package init(count: Int) { self.count = count }

    /// Runs `body` when there is room for it.
    /// - Throws: `CancellationError` when the task is cancelled while it waits; what `body` throws.
    package func run<Value: Sendable>(for tenant: String, _ body: () async throws -> Value) async throws -> Value {
        let slots = slots.withLock { all in
            if let known = all[tenant] { return known }
            let fresh = Slots(count: count)
            all[tenant] = fresh
            return fresh
        }
        return try await slots.run(body)
    }
}
