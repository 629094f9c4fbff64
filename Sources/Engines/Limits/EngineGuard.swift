import Basics
import Foundation
import ScribeDomain

/// Guard around an engine: time limit, concurrency limit and circuit breaker.
package struct EngineGuard: Sendable {
    /// Limits of a guard.
    package struct Policy: Hashable, Sendable {
        /// Base time limit of a recording or a note.
        package var timeLimit = Duration.seconds(120)
        /// Additional time per second of audio.
        package var timeLimitPerSecond = Duration.seconds(1)
        /// Most concurrent tasks.
        package var concurrency = 4
        /// Failures in a row that open the circuit, and the time for which it stays open.
        package var failuresToOpen = 5
        package var openTime = Duration.seconds(15)

        package static let usual = Policy()
    }

    private let engine: any Engine
    /// Whether the last probe failed and nothing has succeeded since.
    private let isUnreachable = LockedValue(false)
    private let circuit: CircuitBreaker
    private let slots: Slots
    private let clock: WallClock

    /// Creates a guard.
    init(_ engine: any Engine, policy: Policy, clock: WallClock) {
        self.engine = engine
        circuit = CircuitBreaker(failuresToOpen: policy.failuresToOpen, openTime: policy.openTime / .seconds(1))
        slots = Slots(count: policy.concurrency)
        self.clock = clock
    }

    var hasFailedLast: Bool { circuit.hasFailed || isUnreachable.withLock { $0 } }

    var condition: EngineCondition {
        if circuit.timeLeft(at: clock.now) != nil { return .unavailable }
        return isUnreachable.withLock { $0 } ? .unreachable : engine.condition
    }

    func probe() async -> FailedProbe? {
        let failure = await engine.probe()
        isUnreachable.withLock { $0 = failure != nil }
        return failure
    }

    /// Runs work of the engine when there is room for it.
    /// - Parameters:
    ///   - tenant: tenant of the work; waiting tenants take turns.
    ///   - limit: returns the time limit; called once there is room.
    ///   - codes: diagnostic codes for a failed and for a late engine.
    /// - Throws: ``EngineFailure``, of origin ``EngineFailure/Origin/refusal`` while the
    ///   circuit is open; `CancellationError`.
    func run<Value: Sendable>(
        for tenant: String, within limit: () async -> Duration, codes: (failed: Diagnostic.Code, late: Diagnostic.Code),
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let left = circuit.admit(at: clock.now) {
            throw EngineFailure(
                codes.failed, "\(engine.name) is left alone after failures in a row", isRetryable: true,
                retryAfter: left,
                origin: .refusal)
        }
        return try await slots.run(for: tenant) {
            do {
                let limit = await limit()
                let late = EngineFailure(
                    codes.late, "\(engine.name) took longer than \(limit)", isRetryable: true, origin: .service)
                let value = try await withTimeLimit(limit, clock: clock, failure: late, work)
                circuit.succeeded()
                isUnreachable.withLock { $0 = false }
                return value
            } catch let failure as EngineFailure where failure.origin == .service {
                circuit.failed(at: clock.now)
                throw failure
            } catch {
                // A failure because of the input says nothing about the service.
                circuit.released()
                throw error
            }
        }
    }
}
