package import Basics
import ScribeDomain

/// Note writer with the same limits as a guarded transcriber, for writers that take time, and optionally a fallback.
package struct GuardedNoteWriter: NoteWriter {
    private let base: any NoteWriter
    private let fallback: (any NoteWriter)?
    private let policy: EngineGuard.Policy
    private let limits: EngineGuard

    /// Wraps a note writer.
    /// - Parameter fallback: writes while the circuit is open, and after the last attempt has failed.
    package init(
        _ base: any NoteWriter, fallback: (any NoteWriter)? = nil, policy: EngineGuard.Policy, clock: WallClock
    ) {
        self.base = base
        self.fallback = fallback
        self.policy = policy
        limits = EngineGuard(base, policy: policy, clock: clock)
    }

    package var name: String { base.name }
    package var isInstant: Bool { base.isInstant }

    package var condition: EngineCondition { limits.condition }
    package var hasFailedLast: Bool { limits.hasFailedLast }

    package func probe() async -> FailedProbe? { await limits.probe() }

    package func write(_ request: NoteRequest) async throws -> WrittenNote {
        let count = base.requestCount(for: request)
        // A note without the service says nothing about it, and needs it not.
        if count == 0 { return try await base.write(request) }
        do {
            return try await limits.run(
                for: request.tenant, within: { policy.timeLimit * count },
                codes: (.noteFailed, .noteFailed)
            ) { [base] in try await base.write(request) }
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
