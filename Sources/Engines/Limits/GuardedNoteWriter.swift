package import Basics
import ScribeDomain

/// Note writer with the same limits as a guarded transcriber, for writers that take time, and optionally a fallback.
package struct GuardedNoteWriter: NoteWriter {
    private let base: any NoteWriter
    private let fallback: (any NoteWriter)?
    private let policy: EngineGuard.Policy
    private let limits: EngineGuard
    /// Whether the last probe failed and no note has been written since.
    private let isUnreachable = LockedValue(false)

    /// Wraps a note writer.
    /// - Parameter fallback: writes while the circuit is open, and after the last attempt has failed.
    package init(
        _ base: any NoteWriter, fallback: (any NoteWriter)? = nil, policy: EngineGuard.Policy, clock: WallClock
    ) {
        self.base = base
        self.fallback = fallback
        self.policy = policy
        limits = EngineGuard(base.name, policy: policy, clock: clock)
    }

    package var name: String { base.name }
    package var isInstant: Bool { base.isInstant }

    package var condition: EngineCondition {
        if limits.isCircuitOpen { return .unavailable }
        return isUnreachable.withLock { $0 } ? .unreachable : base.condition
    }

    package var hasFailedLast: Bool { limits.hasFailedLast || isUnreachable.withLock { $0 } }

    package func probe() async -> FailedProbe? {
        let failure = await base.probe()
        isUnreachable.withLock { $0 = failure != nil }
        return failure
    }

    package func write(_ request: NoteRequest) async throws -> WrittenNote {
        do {
            let note = try await limits.run(
                for: request.tenant, within: { policy.timeLimit * base.requestCount(for: request) },
                codes: (.noteFailed, .noteFailed)
            ) { [base] in try await base.write(request) }
            isUnreachable.withLock { $0 = false }
            return note
        } catch let failure as EngineFailure {
            guard let fallback, request.isLastAttempt || !failure.isRetryable || condition == .unavailable else {
                throw failure
            }
            let note = try await fallback.write(request)
            let warning = Diagnostic(
                .writtenByRules, "The language model did not write the note; the rules wrote it")
            return WrittenNote(
                value: note.value, warnings: [warning] + note.warnings, by: fallback.name, after: failure)
        }
    }
}
