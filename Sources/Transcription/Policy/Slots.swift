/// Limits how many of something run at the same time; who comes first goes first.
actor Slots {
    private var free: Int
    private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var order: [Int] = []
    private var next = 0

    init(count: Int) { free = max(1, count) }

    /// Runs `body` when there is room for it.
    /// - Throws: `CancellationError` when the task is cancelled while it waits; what `body` throws.
    nonisolated func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await take()
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await give()
        return try result.get()
    }

    private func take() async throws {
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
                order.append(number)
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
    }

    private func give() {
        while let number = order.first {
            order.removeFirst()
            if let continuation = waiting.removeValue(forKey: number) {
                continuation.resume()
                return
            }
        }
        free += 1
    }

    private func cancel(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }
}
