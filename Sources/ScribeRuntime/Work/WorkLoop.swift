import Basics
import Engines
import Foundation
import Logging
import ScribeDomain
import ScribeStore

/// Runs jobs of one kind until it is cancelled: a bounded number at a time, tenants in turn.
///
/// The loop keeps no state. The next start claims unfinished jobs again.
struct WorkLoop: Sendable {
    let worker: any Worker
    let inbox: JobInbox
    let store: Store
    let clock: WorldClock
    let policy: WorkPolicy
    let logger: Logger

    /// Claims as many jobs as there are free slots. A job holds its slot until it is done.
    func run() async {
        await withDiscardingTaskGroup { group in
            let slots = Slots(count: policy.concurrency(of: worker.kind))
            var search = JobSearch(inbox: inbox)
            while !Task.isCancelled {
                guard let free = try? await slots.takeAll() else { break }
                do {
                    let jobs = try await search.jobs(upTo: free, at: clock.now) { limit, now in
                        try await store.work.claimJobs(worker.kind, upTo: limit, at: now)
                    }
                    await slots.give(free - jobs.count)
                    for job in jobs {
                        group.addTask {
                            await perform(job)
                            await slots.give(1)
                        }
                    }
                    if jobs.isEmpty { try await search.wait(clock) }
                } catch is CancellationError {
                    break
                } catch {
                    await slots.give(free)
                    logger.error("jobs cannot be claimed", metadata: ["error": "\(error)"])
                    try? await clock.wall.sleep(for: .seconds(1), as: .storeRetry)
                }
            }
        }
    }

    func perform(_ job: Job) async {
        do {
            // More claims than attempts: the process died in each attempt. One more attempt might end it again.
            if job.attempt > policy.attempts {
                logger.error("a job has failed too often", metadata: metadata(of: job, "given up"))
                try await worker.giveUp(job)
            } else {
                try await worker.perform(job)
            }
        } catch is CancellationError {
            // The server stops. The next start does the job.
            try? await shieldFromCancellation {
                try await store.work.postpone(job, until: clock.now, countsAttempt: false)
            }
        } catch {
            logger.log(
                level: error is EngineFailure ? .notice : .error, "a job failed", metadata: metadata(of: job, error))
            if policy.isLastAttempt(job), !error.isNoAttempt, (try? await worker.giveUp(job)) != nil { return }
            await retry(job, after: error)
        }
    }

    /// Puts a job back, and retries until the write succeeds. A full disk refuses writes, and a job that stays claimed
    /// would never run.
    private func retry(_ job: Job, after error: any Error) async {
        let asked = (error as? EngineFailure)?.retryAfter.map { Duration.seconds($0) }
        let pause = max(policy.pause(after: job), asked ?? .zero)
        while !Task.isCancelled {
            do {
                let time = clock.now.addingTimeInterval(pause / .seconds(1))
                return try await store.work.postpone(job, until: time, countsAttempt: !error.isNoAttempt)
            } catch {
                logger.error("a job could not be put back", metadata: metadata(of: job, error))
                try? await clock.wall.sleep(for: .seconds(1), as: .storeRetry)
            }
        }
    }

    private func metadata(of job: Job, _ error: some Any) -> Logger.Metadata {
        [
            "txn_id": "\(job.transaction.id.logged)", "job": "\(job.work.kind.rawValue)",
            "attempt": .stringConvertible(job.attempt),
            "error": "\((error as? EngineFailure)?.logged ?? "\(error)")",
        ]
    }
}

extension Error {
    /// Whether the error does not count as an attempt: the engine was not asked, or the store could not write.
    fileprivate var isNoAttempt: Bool {
        if case .storageUnavailable? = self as? ScribeError { return true }
        return (self as? EngineFailure)?.origin == .refusal
    }
}
