import Basics
import Foundation
import Testing

struct ComputeThreadsTests {
    @Test("callers take turns, however much work one of them has")
    func turns() async {
        let threads = ComputeThreads(count: 1)
        func executor(of caller: String) -> any TaskExecutor {
            ComputeThreads.$caller.withValue(caller) { threads.executor }
        }
        let busy = executor(of: "busy")
        // Callers may share a turn.
        let other = (0...).lazy.map { executor(of: "\($0)") }.first { $0 !== busy } ?? busy
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let first = Task(executorPreference: busy) {
            begin.yield()
            Self.wait(for: gate)
        }
        for await _ in begun { break }
        let done = LockedValue<[String]>([])
        let tasks = [("busy", busy), ("busy", busy), ("busy", busy), ("other", other), ("other", other)].map {
            name, executor in
            Task(executorPreference: executor) { done.withLock { $0.append(name) } }
        }
        gate.signal()
        await first.value
        for task in tasks { await task.value }
        #expect(done.withLock { $0 } == ["busy", "other", "busy", "other", "busy"])
    }

    private static func wait(for gate: DispatchSemaphore) { gate.wait() }

    @Test("large work runs on threads of its own, and small work stays")
    func threads() async {
        func thread(_ bytes: Int) async -> String {
            await EventLoopOffload.run(bytes: bytes) {
                (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
            }
        }
        let (large, small) = (await thread(EventLoopOffload.threshold + 1), await thread(EventLoopOffload.threshold))
        #expect(large.hasPrefix("compute-"), "\(large)")
        #expect(!small.hasPrefix("compute-"), "\(small)")
    }
}
