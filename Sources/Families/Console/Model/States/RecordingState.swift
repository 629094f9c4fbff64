import Engines
import Foundation
import ScribeDomain

/// State of a recording in the words of the console, with a sentence about the failure and one about the remedy.
///
/// The list, the page of a recording and its timeline show this state, and no other.
struct RecordingState: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case recording, processing, done, partial, stuck, expired, failed, skipped, cancelled

        var word: String {
            switch self {
            case .recording: "Recording"
            case .processing: "Processing"
            case .done: "Done"
            case .partial: "Partial"
            // Audio may be there, but no commit has come for a while.
            case .stuck: "Not committed"
            case .expired: "Expired"
            case .failed: "Failed"
            // Too little was said for a note, which its API does not call a failure.
            case .skipped: "Skipped"
            case .cancelled: "Cancelled"
            }
        }

        /// The word of a state that a tester asked for, or of any other.
        func word(isAsked: Bool) -> String {
            isAsked ? "\(self == .stuck ? "Refused" : word) as asked" : word
        }

        /// Class of the style sheet, with a picture of its own.
        fileprivate var style: String {
            switch self {
            case .recording: "rec"
            case .processing: "run"
            case .done: "done"
            case .partial: "part"
            case .stuck: "stuck"
            case .expired, .failed: "fail"
            case .skipped, .cancelled: "off"
            }
        }
    }

    /// Colour of a line of the timeline, as its class of the style sheet.
    enum Tone: String, Hashable, Sendable {
        case neutral = ""
        case good = "o"
        case doubtful = "w"
        case bad = "x"
        /// A tester asked for it.
        case asked = "a"
    }

    /// Silence after which a recording without a commit counts as stuck, in seconds.
    private static let patience = 15.0 * 60

    /// Time that a client may take from its last audio over its stop to its commit, in seconds.
    private static let pauseBeforeCommit = 60.0

    /// Problems of single files, whose words are missing then.
    private static let losses: Set<Diagnostic.Code> = [
        .audioMissing, .emptyAudio, .audioTooShort, .undecodableAudio, .transcriptionFailed, .transcriptionTimeout,
    ]

    let kind: Kind
    /// Whether a tester asked for this state: by a fixture, by a fault rule or by a call.
    let isAsked: Bool
    /// Result so far, for the list.
    let outcome: String
    /// Sentence about the failure; nil without one, and for a state that a tester asked for.
    let problem: String?
    /// Sentence about the remedy.
    let advice: String?

    var word: String { kind.word(isAsked: isAsked) }

    /// Class of the style sheet.
    var style: String { isAsked ? "ask" : kind.style }

    var tone: Tone {
        if isAsked { return .asked }
        return switch kind {
        case .done: .good
        case .partial, .stuck, .skipped: .doubtful
        case .expired, .failed: .bad
        case .recording, .processing, .cancelled: .neutral
        }
    }

    /// Tone of one result, in line with the state's.
    static func tone(of document: ResultDocument, in facts: Facts) -> Tone {
        let told = (document.errors + document.warnings).map { ProblemSentences($0, in: facts) }
        if document.status != .success, !told.isEmpty, told.allSatisfy({ $0.asker != nil }) { return .asked }
        return switch document.status {
        case .success: .good
        case .partialSuccess: .doubtful
        case .failure: .bad
        case .inProgress: .neutral
        }
    }

    init(of facts: Facts, at now: Date) {
        switch (facts.userStatus, facts.processingStatus) {
        case (.cancelled, _), (_, .cancelled):
            self.init(.cancelled, "Cancelled")
        case (.initialized, .inProgress), (.stopped, .inProgress):
            self.init(open: facts, silentFor: now.timeIntervalSince(facts.lastSoundAt ?? facts.createdAt))
        case (.committed, .inProgress):
            let delay = facts.fixture?.delay.map { "Held back for \(Self.span($0)), by its fixture" }
            self.init(.processing, delay ?? "Recognising and writing the note")
        case (_, .success), (_, .systemFailure), (_, .requestFailure):
            self.init(ended: facts)
        }
    }

    private init(open facts: Facts, silentFor silence: TimeInterval) {
        let refused = Self.refusal(of: facts)
        let hasStopped = facts.userStatus == .stopped
        if facts.rules.isExpired {
            let within = facts.rules.lifetime.map { " within \($0)" } ?? ""
            self.init(
                .expired, "Not ended\(within)", problem: "The session expired before it was ended.",
                advice: "It takes nothing more, and nothing is recognised. End each session\(within).")
        } else if silence < (!hasStopped ? Self.patience : refused == nil ? Self.pauseBeforeCommit : 0) {
            let count = facts.files
            let files = count == 0 ? "no file" : count == 1 ? "1 file" : "\(count) files"
            let text = hasStopped ? "Stopped, \(files)" : count == 0 ? "No file yet" : "\(files) so far"
            self.init(.recording, [text, refused].compactMap(\.self).joined(separator: "; "))
        } else if let refused {
            self.init(.stuck, isAsked: true, "\(hasStopped ? "Stopped" : "Begun"); \(refused)")
        } else {
            self.init(
                .stuck,
                hasStopped
                    ? "Stopped, but not committed"
                    : "Begun, but no \(facts.rules.ending) for \(Self.span(silence))",
                problem: "No \(facts.rules.ending) has come.",
                advice: "Without one nothing is recognised. "
                    + (facts.rules.endsByOwnAPIOnly
                        ? "End it by its own API." : "Send it from your app, or press “Commit” here."))
        }
    }

    /// Step of the client that the recording's fixture refuses, as a phrase; nil for none.
    private static func refusal(of facts: Facts) -> String? {
        guard let fixture = facts.fixture else { return nil }
        if facts.files == 0, fixture.refuses(.upload) { return "its fixture refuses uploads" }
        if facts.userStatus == .initialized, fixture.refuses(.stop) { return "its fixture refuses the stop" }
        return fixture.refuses(.commit) ? "its fixture refuses the commit" : nil
    }

    private init(ended facts: Facts) {
        let notes = facts.results.dropFirst()
        let isUsable = facts.results.contains(where: \.isUsable)
        if let (problem, sentences) = facts.deciding, !isUsable || facts.processingStatus != .success {
            let isSkipped = facts.rules.leastAudio != nil && facts.processingStatus == .requestFailure
            self.init(isSkipped ? .skipped : .failed, problem, sentences, outcome: sentences.what.withoutFullStop)
        } else if facts.processingStatus != .success {
            self.init(.failed, "Processing failed", problem: "Processing failed.", advice: "Commit again.")
        } else if facts.results.contains(.partialSuccess) || facts.results.contains(.failure) {
            let written = notes.count(where: \.isUsable)
            guard let (problem, sentences) = facts.deciding else {
                self.init(.partial, "Results with a doubt")
                return
            }
            let outcome =
                written < notes.count
                ? "\(written) of \(notes.count == 1 ? "1 note" : "\(notes.count) notes")"
                : Self.losses.contains(problem.code) ? "A part of what was said is missing" : "Results with a doubt"
            self.init(.partial, problem, sentences, outcome: outcome)
        } else {
            let seconds = facts.committedAt.flatMap { begin in
                facts.processedAt.map { $0.timeIntervalSince(begin) }
            }
            let took = seconds.map { " in \(Self.precise(max(0, $0)))" } ?? ""
            let count = notes.count
            self.init(.done, (count == 0 ? "Transcript" : count == 1 ? "1 note" : "\(count) notes") + took)
        }
    }

    /// A state with a problem, which is quiet if a tester asked for it.
    private init(_ kind: Kind, _ problem: Diagnostic, _ sentences: ProblemSentences, outcome: String) {
        if let asker = sentences.asker {
            self.init(kind, isAsked: true, "\(problem.code.rawValue), by \(asker)")
        } else {
            self.init(kind, outcome, problem: sentences.what, advice: sentences.advice)
        }
    }

    private init(
        _ kind: Kind, isAsked: Bool = false, _ outcome: String, problem: String? = nil, advice: String? = nil
    ) {
        self.kind = kind
        self.isAsked = isAsked
        self.outcome = outcome
        self.problem = problem
        self.advice = advice
    }
}

extension String {
    /// The sentence as a phrase.
    fileprivate var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
