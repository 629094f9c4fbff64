import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeStore

extension RecordingState {
    /// Facts that decide about the state.
    struct Facts: Hashable, Sendable {
        let userStatus: Transaction.UserStatus
        let processingStatus: Transaction.ProcessingStatus
        let createdAt: Date
        let committedAt: Date?
        let processedAt: Date?
        /// Time of the last upload or audio; nil without any.
        let lastSoundAt: Date?
        /// Number of audio files.
        let files: Int
        /// Status of each result, the transcript first; without documents that repeat the transcript.
        let results: [ResultDocument.Status]
        /// Errors of the first failed result, or else warnings of the first partial one.
        let problems: [Diagnostic]
        let fixture: NamedFixture?
        let rules: Rules

        /// Rules of the recording's kind.
        struct Rules: Hashable, Sendable {
            /// Whether the recording's time to be ended is over.
            var isExpired = false
            /// Step of the client after which processing starts.
            var ending = "commit"
            /// Time that a recording may be open, such as `3 h of its last audio`; nil for no limit.
            var lifetime: String?
            /// Least audio of a recording, in seconds; nil if recordings are never skipped.
            var leastAudio: TimeInterval?
            /// Whether only the recording's own API ends it.
            var endsByOwnAPIOnly = false
        }

        /// Warnings that make no result partial.

        /// Sentences about the problem that decides: one that no tester asked for, if there is any.
        var deciding: (problem: Diagnostic, sentences: ProblemSentences)? {
            let grave = problems.filter { !$0.code.isMild }
            let told = (grave.isEmpty ? problems : grave).map { ($0, ProblemSentences($0, in: self)) }
            return told.first { $0.1.asker == nil } ?? told.first
        }
    }
}

extension RecordingState.Facts {
    init(_ row: RecordingSummary, at now: Date, _ runtime: Runtime, showsWords: Bool) {
        self.init(
            userStatus: row.userStatus, processingStatus: row.processingStatus, createdAt: row.createdAt,
            committedAt: row.committedAt, processedAt: row.processedAt,
            lastSoundAt: [row.lastAudioAt, row.lastUploadAt].compactMap(\.self).max(), files: row.files,
            results: row.results,
            problems: row.problems,
            fixture: row.fixture.map {
                NamedFixture($0, in: runtime.fixtureBehaviour, showsName: showsWords)
            },
            rules: Rules(row.kind, begun: row.createdAt, lastAudio: row.lastAudioAt, at: now, runtime))
    }

    /// - Parameter files: Audio files.
    init(
        _ transaction: Transaction, files: [RecordingFile], _ documents: [ResultDocument], at now: Date,
        _ runtime: Runtime,
        showsWords: Bool
    ) {
        let failed = documents.first { $0.status == .failure }
        let partial = documents.first { $0.status == .partialSuccess }
        let request = transaction.request
        self.init(
            userStatus: transaction.userStatus, processingStatus: transaction.processingStatus,
            createdAt: transaction.createdAt, committedAt: transaction.committedAt,
            processedAt: transaction.processedAt,
            lastSoundAt: ([transaction.lastAudioAt] + files.map(\.uploadedAt)).compactMap(\.self).max(),
            files: files.count,
            results: documents.filter { $0.kind == .transcript || $0.format != .transcript }.map(\.status),
            problems: failed?.errors ?? partial?.warnings ?? [],
            fixture: request.fixture.map {
                NamedFixture($0, in: runtime.fixtureBehaviour, showsName: showsWords)
            },
            rules: Rules(
                request.kind, begun: transaction.createdAt, lastAudio: transaction.lastAudioAt, at: now, runtime))
    }
}

extension RecordingState.Facts.Rules {
    init(_ kind: RecordingKind, begun: Date, lastAudio: Date?, at now: Date, _ runtime: Runtime) {
        let policy = runtime.policies[kind]
        isExpired = policy.lifetime.map { now >= $0.end(begun: begun, lastAudio: lastAudio) } ?? false
        ending = kind == .transaction ? "commit" : "end"
        lifetime = policy.lifetime.map { lifetime in
            let end = lifetime.end(begun: begun, lastAudio: lastAudio)
            guard let lastAudio, end > lifetime.end(begun: begun, lastAudio: nil) else {
                return RecordingState.span(lifetime.length)
            }
            // The end has no fraction of a second.
            let minutes = (end.timeIntervalSince(lastAudio) / 60).rounded()
            return "\(RecordingState.span(minutes * 60)) of its last audio"
        }
        leastAudio = policy.leastAudio
        endsByOwnAPIOnly = policy.endsByOwnAPIOnly
    }
}
