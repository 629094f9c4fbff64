import Foundation

/// Threads for work that takes a processor for long, such as parsing a large body.
///
/// Event loops and Swift's own threads stay free for connections. Callers take turns: one with much work delays
/// another one by a single piece of work of each thread.
package final class ComputeThreads: Sendable {
    package static let shared = ComputeThreads(count: max(2, ProcessInfo.processInfo.activeProcessorCount))
    /// The caller that the present task works for: a business, or the address of a client without one.
    @TaskLocal package static var caller = ""

    /// Number of turns. Callers beyond them share one.
    private static let turnCount = 256

    private struct Queues {
        var jobs = [[UnownedJob]](repeating: [], count: ComputeThreads.turnCount)
        /// Turns with jobs, in their order.
        var turns: [Int] = []

        mutating func add(_ job: UnownedJob, to turn: Int) {
            if jobs[turn].isEmpty { turns.append(turn) }
            jobs[turn].append(job)
        }

        mutating func next() -> (turn: Int, job: UnownedJob)? {
            guard !turns.isEmpty else { return nil }
            let turn = turns.removeFirst()
            let job = jobs[turn].removeFirst()
            if !jobs[turn].isEmpty { turns.append(turn) }
            return (turn, job)
        }
    }

    private let queues: LockedValue<Queues>
    private let waiting: DispatchSemaphore
    /// Of each turn. They live as long as the threads: the runtime tells executors apart by their addresses.
    private let executors: [TurnExecutor]

    package init(count: Int) {
        let (queues, waiting) = (LockedValue(Queues()), DispatchSemaphore(value: 0))
        let executors = (0..<Self.turnCount).map { turn in
            TurnExecutor { job in
                queues.withLock { $0.add(job, to: turn) }
                waiting.signal()
            }
        }
        (self.queues, self.waiting, self.executors) = (queues, waiting, executors)
        for number in 0..<count {
            Thread.detachNewThread {
                OperatingSystem.nameThread("compute-\(number)")
                while true {
                    waiting.wait()
                    guard let (turn, job) = queues.withLock({ $0.next() }) else { continue }
                    job.runSynchronously(on: executors[turn].asUnownedTaskExecutor())
                }
            }
        }
    }

    /// Executor of the present caller's work.
    package var executor: any TaskExecutor {
        executors[Int(UInt(bitPattern: Self.caller.hashValue) % UInt(Self.turnCount))]
    }

    private final class TurnExecutor: TaskExecutor {
        private let add: @Sendable (UnownedJob) -> Void

        init(_ add: @escaping @Sendable (UnownedJob) -> Void) { self.add = add }

        func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }
    }
}
