import Basics
import ScribeRuntime
import ServiceLifecycle

extension ScribeContext {
    /// Runs work that is cancelled when the client disconnects or the server stops.
    package func cancellingOnDisconnect<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await cancelWhenGracefulShutdown(work) }
        return try await withTaskCancellationHandler {
            try await clientDisconnect().watched(by: { task.cancel() }) { try await task.value }
        } onCancel: {
            task.cancel()
        }
    }
}
