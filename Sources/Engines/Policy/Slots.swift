/// Limits how many of something run at the same time. Where there is a queue tenants take turns, and within a tenant who
/// comes first goes first.
package actor Slots {
    private var free: Int
    private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var queues: [String: ArraySlice<Int>] = [:]
    /// The tenants that wait, in the order of their turns.
    private var turns: ArraySlice<String> = []
    private var next = 0

    package init(count: Int) { free = max(1, count) }

    var freeCount: Int { free }
    var waitingCount: Int { waiting.count }

    /// Runs `body` when there is room for it.
    /// - Throws: `CancellationError` when the task is cancelled while it waits; what `body` throws.
    package nonisolated func run<Value: Sendable>(
        for tenant: String = "", _ body: () async throws -> Value
    ) async throws -> Value {
        try await take(tenant)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await give()
        return try result.get()
    }

    /// Waits until there is room for one, and takes all that there is.
    /// - Throws: `CancellationError`.
    package func takeAll() async throws -> Int {
        try await take("")
        defer { free = 0 }
        return 1 + free
    }

    /// Gives back what was taken.
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
            // Those that were cancelled are there no more.
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
