import ScribeDomain
import ScribeStore

/// Does the jobs of one kind. Everything around a job is the ``WorkLoop``'s: when it is done, how often it is tried, what
/// becomes of it when the server stops.
protocol Worker: Sendable {
    var kind: Job.Kind { get }

    /// Does a job and ends it in the store.
    /// - Throws: what another attempt may cure; an ``EngineFailure`` may say when. `CancellationError` when the server
    ///   stops.
    func perform(_ job: Job) async throws

    /// Ends a job that has failed for good: what was to come of it says so.
    func giveUp(_ job: Job) async throws
}
