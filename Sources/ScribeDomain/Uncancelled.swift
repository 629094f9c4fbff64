/// Does what has to be done to its end, such as to keep what has come, though whoever asks for it may be cancelled.
package func uncancelled<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await Task { try await work() }.value
}
