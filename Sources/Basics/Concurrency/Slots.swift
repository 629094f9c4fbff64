/// Limits how many tasks run at the same time. Waiting tenants take turns; within a
/// tenant the first in line goes first.
package actor Slots {
    private(set) var free: Int
    private(set) var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var queues: [String: ArraySlice<Int>] = [:]
    /// Waiting tenants, in the order of their turns.
    private var turns: ArraySlice<String> = []
    private var next = 0

    package init(count: Int) { free = max(1, count) }

    /// Runs `body` once a slot is free.
    /// - Throws: `CancellationError` if the task is cancelled while it waits; errors of `body`.
    package nonisolated func run<Value: Sendable>(
        for tenant: String = "", _ body: () async throws -> Value
    ) async throws -> Value {
        try await take(tenant)
        let result = await outcome(of: body)
        await give()
        return try result.get()
    }

    /// Waits for a free slot and takes all free slots.
    /// - Throws: `CancellationError`.
    package func takeAll() async throws -> Int {
        try await take("")
        defer { free = 0 }
        return 1 + free
    }

    /// Returns slots that were taken.
    package func give(_ count: Int) { for _ in 0..<count { give() } }

    private func take(_ tenant: String) async throws {
        try Task.checkCancellation()
        if free > 0 {
            free -= 1
            return
        }
        next += 1
        let number = next
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting[number] = continuation
                if queues[tenant] == nil { turns.append(tenant) }
                queues[tenant, default: []].append(number)
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
    }

    private func give() {
        while let tenant = turns.popFirst() {
            var queue = queues.removeValue(forKey: tenant) ?? []
            var continuation: CheckedContinuation<Void, any Error>?
            // Cancelled waiters are no longer in `waiting`.
            while continuation == nil, let number = queue.popFirst() {
                continuation = waiting.removeValue(forKey: number)
            }
            if !queue.isEmpty {
                queues[tenant] = queue
                turns.append(tenant)
            }
            if let continuation { return continuation.resume() }
        }
        free += 1
    }

    private func cancel(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }
}
