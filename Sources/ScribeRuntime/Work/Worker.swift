import ScribeStore

/// Executor of one kind of job. ``WorkLoop`` decides when a job runs, how often it is tried, and how it ends at a stop.
protocol Worker: Sendable {
    var kind: Job.Kind { get }

    /// Does a job and ends it in the store.
    /// - Throws: an error that another attempt may avoid; an ``EngineFailure`` may say when to retry.
    ///   `CancellationError` when the server stops.
    func perform(_ job: Job) async throws

    /// Ends a job that has failed for good, and stores the failure in its results.
    func giveUp(_ job: Job) async throws
}
