import Foundation

/// Moves CPU-heavy work off event loops: a busy loop would stall half of all connections.
package enum EventLoopOffload {
    /// Size in bytes up to which work stays on the caller's thread.
    package static let threshold = 64 << 10

    /// Runs CPU work on `bytes` bytes, off the event loop above ``threshold``.
    package static func run<Value: Sendable>(bytes: Int, _ work: () throws -> Value) async rethrows -> Value {
        guard bytes > threshold else { return try work() }
        return try await withTaskExecutorPreference(ComputeThreads.shared.executor) { try work() }
    }

    /// Runs asynchronous work on `bytes` bytes, off the event loop above ``threshold``.
    package static func run<Value: Sendable>(
        bytes: Int, _ work: @concurrent () async throws -> Value
    ) async rethrows -> Value {
        guard bytes > threshold else { return try await work() }
        return try await withTaskExecutorPreference(ComputeThreads.shared.executor) { try await work() }
    }

    /// Lets the event loop poll its sockets. `Task.yield()` does not: an NIO loop runs all queued tasks before it
    /// polls, and a yielding task is queued again at once.
    package static func yield() async {
        await withTaskExecutorPreference(ComputeThreads.shared.executor) { await leave() }
    }

    @concurrent private static func leave() async {}

    /// Aborts the process if an event loop works on more than ``threshold`` bytes and
    /// `SCRIBE_TRAP_ON_EVENT_LOOP=1` is set.
    /// The tests set the variable. Every parser, recogniser and encoder of large input must call this function.
    package static func watch(bytes: Int, of kind: StaticString) {
        guard traps, bytes > threshold, OperatingSystem.threadName?.hasPrefix("NIO-") ?? false else { return }
        fatalError("an event loop is held: \(kind) of \(bytes) bytes")
    }

    /// Aborts the process if the caller is not on an event loop and `SCRIBE_TRAP_ON_EVENT_LOOP=1` is set. Connections
    /// are accepted there alone: Swift's own threads may be busy.
    package static func requireEventLoop() {
        guard traps, let threadName = OperatingSystem.threadName, !threadName.hasPrefix("NIO-") else { return }
        fatalError("a connection waits for a thread that is no event loop")
    }

    private static let traps = ProcessInfo.processInfo.environment["SCRIBE_TRAP_ON_EVENT_LOOP"] == "1"
}
