package import Basics
import ScribeDomain

/// Note writer with the same limits as a guarded transcriber, for writers that take time.
package struct GuardedNoteWriter: NoteWriter {
    private let base: any NoteWriter
    private let policy: EngineGuard.Policy
    private let limits: EngineGuard

    package init(_ base: any NoteWriter, policy: EngineGuard.Policy, clock: WallClock) {
        self.base = base
        self.policy = policy
        limits = EngineGuard(base.name, policy: policy, clock: clock)
    }

    package var name: String { base.name }
    package var isInstant: Bool { base.isInstant }
    package var condition: EngineCondition { limits.isCircuitOpen ? .unavailable : base.condition }

    package func write(_ request: NoteRequest) async throws -> WrittenNote {
        try await limits.run(
            for: request.tenant, within: { policy.timeLimit }, codes: (.noteFailed, .noteFailed)
        ) { [base] in try await base.write(request) }
    }
}
