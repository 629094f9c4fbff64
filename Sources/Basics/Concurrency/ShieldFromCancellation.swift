/// Runs work to its end even if the calling task is cancelled, for example to store received data.
package func shieldFromCancellation<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await Task { try await work() }.value
}
