import Foundation
package import Logging
package import ScribeDomain
package import ScribeStore
import ServiceLifecycle
package import Transcription

/// Does the jobs that the store holds, a bounded number at a time, until it is told to stop.
///
/// Nothing is remembered here: what is not finished when the process ends is claimed again after the next start.
package struct JobRunner: Service, CustomStringConvertible {
    /// How jobs are done.
    package struct Policy: Sendable {
        /// How many run at the same time.
        package var concurrency: Int
        /// How often a chunk or an assembly is tried before it has failed.
        package var attempts: Int
        /// The pause before the second attempt; it doubles with each further one.
        package var backOff: Duration
        /// How long after commit a listed file may still arrive.
        package var objectWait: Duration

        package init(
            concurrency: Int = 4, attempts: Int = 3, backOff: Duration = .milliseconds(500),
            objectWait: Duration = .seconds(10)
        ) {
            self.concurrency = concurrency
            self.attempts = attempts
            self.backOff = backOff
            self.objectWait = objectWait
        }

        /// Doubles with each attempt, and differs by up to a quarter from job to job, so that those which failed
        /// together do not come back together.
        func pause(after job: Job) -> Duration {
            let spread = Double((UInt64(bitPattern: job.id) &* 0x9E37_79B9_7F4A_7C15) >> 56) / 255
            return backOff * (1 << min(job.attempt - 1, 6)) * (1 + spread / 4)
        }
    }

    let store: Store
    let objects: ObjectFiles
    let transcriber: any Transcriber
    let noteWriter: any NoteWriter
    let templates: TemplateCatalogue
    let signals: ChangeSignals
    let bell: JobBell
    let metrics: Metrics
    let clock: ScribeClock
    let policy: Policy
    let logger: Logger

    package init(
        store: Store, objects: ObjectFiles, transcriber: any Transcriber, noteWriter: any NoteWriter,
        templates: TemplateCatalogue, signals: ChangeSignals, bell: JobBell, metrics: Metrics, clock: ScribeClock,
        policy: Policy,
        logger: Logger
    ) {
        self.store = store
        self.objects = objects
        self.transcriber = transcriber
        self.noteWriter = noteWriter
        self.templates = templates
        self.signals = signals
        self.bell = bell
        self.metrics = metrics
        self.clock = clock
        self.policy = policy
        self.logger = logger
    }

    /// What the service group logs; the parts would otherwise be spelled out, fixtures included.
    package var description: String { "JobRunner" }

    package func run() async throws {
        // Claims as many as there are free slots; a claimed job takes its slot until it is done.
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                let slots = JobSlots(count: policy.concurrency)
                var search = JobSearch(bell: bell)
                while !Task.isCancelled {
                    let free = await slots.takeAll()
                    do {
                        let jobs = try await search.jobs(upTo: free, at: clock.now, store.claimJobs)
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
                        try? await clock.sleep(for: .seconds(1), as: .storeRetry)
                    }
                }
            }
        }
    }

    func perform(_ job: Job) async {
        do {
            // Claimed more often than it was tried: the process died of it each time, and must not do so for ever.
            if job.attempt > policy.attempts, await abandon(job) { return bell.ring() }
            switch job.work {
            case .transcribe(let chunk): try await transcribe(chunk, job)
            case .assemble(let input):
                guard try await assemble(job, from: input) else { return }
            }
        } catch is CancellationError {
            // The server stops; whoever starts it again goes on. A cancelled task cannot write, so another one does.
            await Task { try? await store.postpone(job, until: clock.now, countsAttempt: false) }.value
        } catch {
            logger.error("a job failed", metadata: metadata(of: job, error))
            if case .assemble = job.work, job.attempt >= policy.attempts, !Store.isFull(error), await giveUp(job) {
                return
            }
            await retry(job, after: error)
        }
        bell.ring()
    }

    private func transcribe(_ chunk: ChunkToTranscribe, _ job: Job) async throws {
        do {
            let result = try await result(of: chunk, job)
            try await store.finishTranscription(job, of: chunk, result: result, at: clock.now)
            signals.post(job.transaction)
        } catch let failure as TranscriptionFailure {
            await retry(job, after: failure)
        }
    }

    /// What is in a chunk, or why it cannot be told.
    /// - Parameter overlaps: whether the end of the chunk before it is known to be heard again in it.
    /// - Throws: what another attempt may cure.
    func result(
        of chunk: ChunkToTranscribe, overlaps: Bool = false, _ job: Job
    ) async throws -> Result<RecognisedSpeech, Diagnostic> {
        let recording = Recording(
            path: objects.path(of: chunk.file), ordinal: chunk.ordinal, overlaps: overlaps, languages: chunk.languages,
            isLite: chunk.isLite, isLastAttempt: job.attempt >= policy.attempts, fixture: chunk.fixture,
            tenant: job.transaction.business.rawValue,
            vocabulary: { try await vocabulary(of: job.transaction) }
        )
        let start = clock.now
        let result: Result<RecognisedSpeech, Diagnostic>
        do {
            result = .success(try await transcriber.transcribe(recording))
        } catch let failure as TranscriptionFailure {
            logger.notice("a chunk was not transcribed", metadata: metadata(of: job, failure.reason))
            if failure.origin == .refusal || failure.isRetryable && job.attempt < policy.attempts {
                throw failure
            }
            result = .failure(Diagnostic(failure.code, "\(chunk.name) was not transcribed"))
        } catch let error
            where !(error is CancellationError || Store.isFull(error)) && job.attempt >= policy.attempts
        {
            logger.error("a chunk was not transcribed", metadata: metadata(of: job, error))
            result = .failure(Diagnostic(.transcriptionFailed, "\(chunk.name) was not transcribed"))
        }
        metrics.chunkTranscribed(
            by: transcriber.name, outcome: result.outcomeWord, seconds: clock.now.timeIntervalSince(start)
        )
        return result
    }

    /// The results cannot be put together: says so in them, as far as the store still works.
    private func giveUp(_ job: Job) async -> Bool {
        let diagnostic = Diagnostic(.processingFailed, "The results could not be put together")
        guard (try? await store.abandon(job, because: diagnostic, at: clock.now)) != nil else { return false }
        signals.post(job.transaction)
        return true
    }

    /// The job's work has killed the process each time: it is left undone, and its transaction says so.
    /// - Returns: whether that could be stored.
    private func abandon(_ job: Job) async -> Bool {
        logger.error("a job has failed too often", metadata: metadata(of: job, "given up"))
        switch job.work {
        case .assemble:
            return await giveUp(job)
        case .transcribe(let chunk):
            let failure = Diagnostic(.transcriptionFailed, "\(chunk.name) was not transcribed")
            let saved: Void? = try? await store.finishTranscription(
                job, of: chunk, result: .failure(failure), at: clock.now
            )
            return saved != nil
        }
    }

    /// Puts a job back, however long that takes: on a full disk nothing can be written, and a job that stayed claimed
    /// would be nobody's.
    private func retry(_ job: Job, after error: any Error) async {
        let failure = error as? TranscriptionFailure
        let pause = max(policy.pause(after: job), failure?.retryAfter.map { .seconds($0) } ?? .zero)
        let wasTried = failure?.origin != .refusal && !Store.isFull(error)
        while !Task.isCancelled {
            do {
                let time = clock.now.addingTimeInterval(pause / .seconds(1))
                return try await store.postpone(job, until: time, countsAttempt: wasTried)
            } catch {
                logger.error("a job could not be put back", metadata: metadata(of: job, error))
                try? await clock.sleep(for: .seconds(1), as: .storeRetry)
            }
        }
    }

    private func metadata(of job: Job, _ error: some Any) -> Logger.Metadata {
        ["txn_id": "\(job.transaction.id.logged)", "attempt": "\(job.attempt)", "error": "\(error)"]
    }
}

/// Counts the jobs that may run at the same time.
private actor JobSlots {
    private var free: Int
    private var waiting: CheckedContinuation<Void, Never>?

    init(count: Int) { free = count }

    /// Waits until one is free, and takes all that are. For one taker.
    func takeAll() async -> Int {
        if free == 0 { await withCheckedContinuation { waiting = $0 } }
        defer { free = 0 }
        return free
    }

    func give(_ count: Int) {
        free += count
        guard free > 0 else { return }
        waiting?.resume()
        waiting = nil
    }
}

extension Result where Failure == Diagnostic {
    /// For metrics: `success` or the code of the failure.
    fileprivate var outcomeWord: String {
        switch self {
        case .success: "success"
        case .failure(let diagnostic): diagnostic.code.rawValue
        }
    }
}
