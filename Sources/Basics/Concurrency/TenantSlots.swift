/// Concurrency limit for each tenant separately, so that no tenant takes another's slots.
package final class TenantSlots: Sendable {
    private let count: Int
    private let slots = LockedValue<[String: Slots]>([:])

    /// Creates the slots.
    /// - Parameter count: most concurrent tasks of one tenant.
    package init(count: Int) { self.count = count }

    /// Runs `body` once the tenant has a free slot.
    /// - Throws: `CancellationError` if the task is cancelled while it waits; errors of `body`.
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
