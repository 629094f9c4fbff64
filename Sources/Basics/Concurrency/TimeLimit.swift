/// Runs work with a time limit.
/// - Throws: errors of the work, `failure` after the limit, or `CancellationError`.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, clock: WallClock, failure: any Error,
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await clock.sleep(for: limit, as: .timeLimit)
            throw failure
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
    }
}
