package import NIOPosix
package import ScribeDomain

/// The facts of transcripts: found once for each, and a long one's away from whoever asks, which may be an event loop.
package final class ClinicalFacts: Sendable {
    /// In bytes: what takes no time worth changing threads for.
    private static let short = 4096
    /// Few: those of a transaction are asked for one after another.
    private static let mostKept = 8

    private let threads: NIOThreadPool
    private let kept = LockedValue<[(transcript: String, facts: [ClinicalFact])]>([])

    package init(threads: NIOThreadPool) { self.threads = threads }

    /// In the order in which they were said, each once.
    /// - Throws: `CancellationError`.
    package func facts(in transcript: String) async throws -> [ClinicalFact] {
        if transcript.utf8.count <= Self.short { return FactExtraction.facts(in: transcript) }
        if let known = kept.withLock({ $0.first { $0.transcript == transcript }?.facts }) { return known }
        let facts = try await threads.runIfActive { FactExtraction.facts(in: transcript) }
        kept.withLock { kept in
            kept.insert((transcript, facts), at: 0)
            if kept.count > Self.mostKept { kept.removeLast() }
        }
        return facts
    }
}
