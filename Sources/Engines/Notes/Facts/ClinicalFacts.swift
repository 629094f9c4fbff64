import Basics
package import NIOPosix
package import ScribeDomain

/// Cache of the facts of transcripts. Facts of a long transcript are found on a thread pool, off the event loop.
package final class ClinicalFacts: Sendable {
    /// Transcript length in bytes up to which a change of threads does not pay off.
    private static let short = 4096
    /// Most cached transcripts. Few suffice: the notes of a transaction are written one after another, and the fake
    /// transcriber repeats itself.
    private static let maxKept = 8

    private let threads: NIOThreadPool
    private let kept = LockedValue<[(transcript: String, isDictated: Bool, facts: [ClinicalFact])]>([])

    package init(threads: NIOThreadPool) { self.threads = threads }

    /// Facts of a transcript in spoken order, without duplicates.
    /// - Parameter isDictated: Whether the transcript is a dictated note, and no conversation.
    /// - Throws: `CancellationError`.
    package func facts(in transcript: String, isDictated: Bool = false) async throws -> [ClinicalFact] {
        @Sendable func read() -> [ClinicalFact] {
            isDictated ? Dictation.facts(in: transcript) : FactExtraction.facts(in: transcript)
        }
        let known = kept.withLock { kept in
            kept.first { $0.isDictated == isDictated && $0.transcript == transcript }?.facts
        }
        if let known { return known }
        let facts = transcript.utf8.count <= Self.short ? read() : try await threads.runIfActive { read() }
        kept.withLock { kept in
            kept.insert((transcript, isDictated, facts), at: 0)
            if kept.count > Self.maxKept { kept.removeLast() }
        }
        return facts
    }
}
