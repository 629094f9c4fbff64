import ScribeStore

/// Limits and retries of jobs.
package struct WorkPolicy: Sendable {
    /// Maximum number of concurrent transcriptions, including those that wait for the recogniser.
    package var transcriptions = 4
    /// Maximum number of transactions whose results are made at the same time.
    package var assemblies = 4
    /// Maximum number of concurrent notes, for a note writer that takes time.
    package var notes = 4
    /// Maximum number of attempts of a job.
    package var attempts = 3
    /// The pause before the second attempt. It doubles with each further attempt.
    package var backOff = Duration.milliseconds(500)
    /// The longest time after commit that a listed file may still arrive.
    package var objectWait = Duration.seconds(10)

    package init() {}

    func concurrency(of kind: Job.Kind) -> Int {
        switch kind {
        case .transcribe: transcriptions
        case .assemble: assemblies
        case .note: notes
        }
    }

    func isLastAttempt(_ job: Job) -> Bool { job.attempt >= attempts }

    /// Pause before the next attempt. It doubles with each attempt, and differs by up to a quarter between jobs, so
    /// that jobs which failed together do not retry together.
    func pause(after job: Job) -> Duration {
        let spread = Double((UInt64(bitPattern: job.id) &* 0x9E37_79B9_7F4A_7C15) >> 56) / 255
        return backOff * (1 << min(job.attempt - 1, 6)) * (1 + spread / 4)
    }
}
