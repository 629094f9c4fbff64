import Basics

/// How long a test may take, on however busy a machine: it ends what hangs, and measures nothing.
package let timeOfATest: Duration = .seconds(600)

/// Does what a test does, and cancels it when its time is over, so that whatever it waits for says so.
/// - Throws: ``TestIsTooLong`` where the cancelled test ends without an error of its own.
package func withinTheTimeOfATest(
    _ time: Duration = timeOfATest, _ body: @escaping @Sendable () async throws -> Void
) async throws {
    let isOver = LockedValue(false)
    let test = Task { try await body() }
    let limit = Task {
        try await Task.sleep(for: time)
        isOver.withLock { $0 = true }
        test.cancel()
    }
    defer { limit.cancel() }
    try await withTaskCancellationHandler {
        try await test.value
    } onCancel: {
        test.cancel()
    }
    if isOver.withLock({ $0 }) { throw TestIsTooLong() }
}

package struct TestIsTooLong: Error {}
