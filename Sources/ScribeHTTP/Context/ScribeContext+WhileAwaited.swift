import ScribeRuntime
import ServiceLifecycle

extension ScribeContext {
    /// Does work that is for nobody once its client has gone or the server stops: it is cancelled then.
    package func whileAwaited<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await cancelWhenGracefulShutdown(work) }
        return try await withTaskCancellationHandler {
            try await departure.watched(by: { task.cancel() }) { try await task.value }
        } onCancel: {
            task.cancel()
        }
    }
}
