import Foundation

/// Work that an event loop is not held for: half of all connections would wait for it.
package enum LongWork {
    /// The size in bytes up to which work stays on the caller's thread.
    package static let threshold = 64 << 10

    /// Does work on so many bytes, elsewhere than on the event loop when they are many.
    package static func run<Value: Sendable>(bytes: Int, _ work: () throws -> Value) async rethrows -> Value {
        guard bytes > threshold else { return try work() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { try work() }
    }

    /// Does asynchronous work on so many bytes, elsewhere than on the event loop when they are many.
    package static func run<Value: Sendable>(
        bytes: Int, _ work: @concurrent () async throws -> Value
    ) async rethrows -> Value {
        guard bytes > threshold else { return try await work() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await work() }
    }

    /// Lets the event loop look at its sockets. `Task.yield()` does not: a loop of NIO runs all tasks that are queued before it
    /// does, and a task that yields is queued at once.
    package static func yield() async {
        await withTaskExecutorPreference(globalConcurrentExecutor) { await leave() }
    }

    @concurrent private static func leave() async {}

    /// Ends a process that is asked to (`SCRIBE_TRAP_ON_EVENT_LOOP=1`, as the tests do) when an event loop is held by work
    /// on many bytes. Whatever parses, recognises or encodes says so here.
    package static func watch(bytes: Int, of kind: StaticString) {
        guard traps, bytes > threshold, isOnEventLoop else { return }
        fatalError("an event loop is held: \(kind) of \(bytes) bytes")
    }

    private static let traps = ProcessInfo.processInfo.environment["SCRIBE_TRAP_ON_EVENT_LOOP"] == "1"

    /// Whether this thread is an event loop of NIO's, by its name.
    private static var isOnEventLoop: Bool {
        (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8))?.hasPrefix("NIO-") ?? false
    }
}
