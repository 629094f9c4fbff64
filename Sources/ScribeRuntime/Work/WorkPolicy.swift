import ScribeStore

/// How jobs are done.
package struct WorkPolicy: Sendable {
    /// How many transcriptions are claimed at the same time, those that wait for their turn at the recogniser included.
    package var transcriptions: Int
    /// How many transactions' results are put together at the same time.
    package var assemblies: Int
    /// How many notes are written at the same time, by a writer that takes time.
    package var notes: Int
    /// How often a job is tried before it has failed.
    package var attempts: Int
    /// The pause before the second attempt; it doubles with each further one.
    package var backOff: Duration
    /// How long after commit a listed file may still arrive.
    package var objectWait: Duration

    package init(
        transcriptions: Int = 4, assemblies: Int = 4, notes: Int = 4, attempts: Int = 3,
        backOff: Duration = .milliseconds(500), objectWait: Duration = .seconds(10)
    ) {
        self.transcriptions = transcriptions
        self.assemblies = assemblies
        self.notes = notes
        self.attempts = attempts
        self.backOff = backOff
        self.objectWait = objectWait
    }

    func concurrency(of kind: Job.Kind) -> Int {
        switch kind {
        case .transcribe: transcriptions
        case .assemble: assemblies
        case .note: notes
        }
    }

    func isLastAttempt(_ job: Job) -> Bool { job.attempt >= attempts }

    /// Doubles with each attempt, and differs by up to a quarter from job to job, so that those which failed together do
    /// not come back together.
    func pause(after job: Job) -> Duration {
        let spread = Double((UInt64(bitPattern: job.id) &* 0x9E37_79B9_7F4A_7C15) >> 56) / 255
        return backOff * (1 << min(job.attempt - 1, 6)) * (1 + spread / 4)
    }
}
