import Foundation
import ScribeDomain

/// The limits around an engine, whatever it makes: how long it may take, how much it does at a time, and when it is left
/// alone.
package struct EngineGuard: Sendable {
    /// The limits.
    package struct Policy: Hashable, Sendable {
        /// For any recording, and for any note.
        package var timeLimit: Duration
        /// More for each second of audio.
        package var timeLimitPerSecond: Duration
        /// How many of its tasks run at the same time.
        package var concurrency: Int
        /// After how many failures in a row the service is left alone, and for how long.
        package var failuresToOpen: Int
        package var openTime: Duration

        package init(
            timeLimit: Duration = .seconds(120), timeLimitPerSecond: Duration = .seconds(1), concurrency: Int = 4,
            failuresToOpen: Int = 5, openTime: Duration = .seconds(15)
        ) {
            self.timeLimit = timeLimit
            self.timeLimitPerSecond = timeLimitPerSecond
            self.concurrency = concurrency
            self.failuresToOpen = failuresToOpen
            self.openTime = openTime
        }
    }

    private let engine: String
    private let circuit: Circuit
    private let slots: Slots
    private let clock: WallClock

    /// - Parameter engine: its name.
    init(_ engine: String, policy: Policy, clock: WallClock) {
        self.engine = engine
        circuit = Circuit(failuresToOpen: policy.failuresToOpen, openTime: policy.openTime / .seconds(1))
        slots = Slots(count: policy.concurrency)
        self.clock = clock
    }

    var hasFailedLast: Bool { circuit.hasFailed }

    var isLeftAlone: Bool { circuit.timeLeft(at: clock.now) != nil }

    /// Has the engine do something, when there is room for it.
    /// - Parameters:
    ///   - tenant: whose it is; where several wait, they take turns.
    ///   - limit: asked for once there is room.
    ///   - codes: what the user's document says when the engine has failed, and when it has taken too long.
    /// - Throws: ``EngineFailure``, a ``EngineFailure/Origin/refusal`` while the engine is left alone; `CancellationError`.
    func run<Value: Sendable>(
        for tenant: String, within limit: () async -> Duration, codes: (failed: Diagnostic.Code, late: Diagnostic.Code),
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let left = circuit.admit(at: clock.now) {
            throw EngineFailure(
                codes.failed, "\(engine) is left alone after failures in a row", isRetryable: true, retryAfter: left,
                origin: .refusal)
        }
        return try await slots.run(for: tenant) {
            do {
                let limit = await limit()
                let late = EngineFailure(
                    codes.late, "\(engine) took longer than \(limit)", isRetryable: true, origin: .service)
                let value = try await withTimeLimit(limit, clock: clock, failure: late, work)
                circuit.succeeded()
                return value
            } catch let failure as EngineFailure where failure.origin == .service {
                circuit.failed(at: clock.now)
                throw failure
            } catch {
                // What lies in the input says nothing of the service.
                circuit.released()
                throw error
            }
        }
    }
}
