/// How long a test may take, on however busy a machine: it ends what hangs, and measures nothing.
package let timeOfATest: Duration = .seconds(600)

/// Does what a test does, and cancels it when its time is over, so that whatever it waits for says so.
package func withinTheTimeOfATest(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let test = Task { try await body() }
    let limit = Task {
        try await Task.sleep(for: timeOfATest)
        test.cancel()
    }
    defer { limit.cancel() }
    try await withTaskCancellationHandler {
        try await test.value
    } onCancel: {
        test.cancel()
    }
}
