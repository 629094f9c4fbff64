import Basics
import Foundation
import ScribeDomain
import ScribeStore

/// State of a recording in the words of the console, with a sentence about the failure and one about the remedy.
struct RecordingState: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        case recording = "rec"
        case processing = "run"
        case done
        case partial = "part"
        /// Audio may be there, but no commit has come for a while.
        case stuck
        case failed = "fail"
        /// Failed, because a fixture asked for it.
        case asked = "ask"
        case cancelled = "off"

        var word: String {
            switch self {
            case .recording: "Recording"
            case .processing: "Processing"
            case .done: "Done"
            case .partial: "Partial"
            case .stuck: "Not committed"
            case .failed: "Failed"
            case .asked: "Failed as asked"
            case .cancelled: "Cancelled"
            }
        }
    }

    /// Silence after which a recording without a commit counts as stuck, in seconds.
    private static let patience = 15.0 * 60

    let kind: Kind
    /// Result so far, for the list.
    let outcome: String
    /// Sentence about the failure; nil without one.
    let problem: String?
    /// Sentence about the remedy.
    let advice: String?

    /// Facts that decide about the state.
    struct Facts: Hashable, Sendable {
        let userStatus: Transaction.UserStatus
        let processingStatus: Transaction.ProcessingStatus
        let createdAt: Date
        let committedAt: Date?
        let processedAt: Date?
        let files: Int
        /// Status of each result, the transcript first.
        let results: [ResultDocument.Status]
        /// First error of the first failed result.
        let problem: Diagnostic?
        let fixture: String?
    }

    init(of recording: Facts, at now: Date) {
        let results = recording.results
        let age = now.timeIntervalSince(recording.createdAt)
        switch (recording.userStatus, recording.processingStatus) {
        case (.cancelled, _), (_, .cancelled):
            self.init(.cancelled, "Cancelled")
        case (.initialized, .inProgress) where age < Self.patience:
            let count = recording.files
            self.init(.recording, count == 0 ? "No audio yet" : "\(count) \(count == 1 ? "file" : "files") so far")
        case (.initialized, .inProgress), (.stopped, .inProgress):
            let word = recording.userStatus == .stopped ? "Stopped" : "Begun"
            self.init(
                .stuck, "\(word), but no commit for \(Self.span(age))", problem: "No commit has come.",
                advice: "Without one nothing is recognised. Commit from your app, or here with “Commit”.")
        case (.committed, .inProgress):
            self.init(.processing, "Recognising and writing the note")
        case (_, .success), (_, .systemFailure), (_, .requestFailure):
            self.init(ended: recording, results)
        }
    }

    private init(ended recording: Facts, _ results: [ResultDocument.Status]) {
        let isAsked = recording.fixture != nil
        let notes = max(0, results.count - 1)
        if let problem = recording.problem, !results.contains(where: \.isUsable) {
            let (what, advice) = Self.explanation(of: problem.code)
            self.init(
                isAsked ? .asked : .failed,
                isAsked ? "\(problem.code.rawValue), by its fixture" : what, problem: isAsked ? nil : what,
                advice: isAsked ? nil : advice)
        } else if recording.processingStatus != .success {
            self.init(.failed, "Processing failed", problem: "Processing failed.", advice: "Commit again.")
        } else if results.contains(.partialSuccess) || results.contains(.failure) {
            let problem = recording.problem.map { Self.explanation(of: $0.code) }
            self.init(
                isAsked ? .asked : .partial, "The note lacks a part of what was said",
                problem: isAsked ? nil : problem?.what, advice: problem?.advice)
        } else {
            let seconds = recording.committedAt.flatMap { begin in
                recording.processedAt.map { $0.timeIntervalSince(begin) }
            }
            let took = seconds.map { " in \(Self.precise(max(0, $0)))" } ?? ""
            self.init(.done, (notes == 0 ? "Transcript" : notes == 1 ? "1 note" : "\(notes) notes") + took)
        }
    }

    private init(_ kind: Kind, _ outcome: String, problem: String? = nil, advice: String? = nil) {
        self.kind = kind
        self.outcome = outcome
        self.problem = problem
        self.advice = advice
    }

    /// The meaning of a code to the developer of a client.
    static func explanation(of code: Diagnostic.Code) -> (what: String, advice: String) {
        switch code {
        case .noAudio:
            ("No audio arrived.", "Look whether the uploads were refused, and name at commit what was answered 200.")
        case .noSpeech: ("The audio has no speech.", "Check the microphone and its level, then record again.")
        case .emptyAudio: ("A file has no bytes.", "Send a chunk only once it is written.")
        case .audioTooShort: ("The audio lasts less than a tenth of a second.", "Send longer chunks.")
        case .undecodableAudio:
            ("The audio could not be decoded.", "Send WAV, MP3, M4A, WebM, Ogg or FLAC, and each file whole.")
        case .audioMissing:
            ("The commit named a file that never came.", "Upload it again, or name only what was answered 200.")
        case .chunkOverlap:
            ("The times of the chunks contradict each other.", "Send each chunk's times in the session.")
        case .chunkGap: ("The numbers of the chunks have a gap.", "Name every chunk at commit.")
        case .transcriptionFailed: ("The recogniser failed.", "Look at the recogniser, then commit again.")
        case .transcriptionTimeout: ("The recogniser took too long.", "Look at its load, then commit again.")
        case .lowConfidence: ("The recogniser was not sure.", "Listen to the audio; speak closer to the microphone.")
        case .unknownFixture: ("The fixture that was asked for does not exist.", "Check its name in visit_id.")
        case .processingFailed: ("The server failed.", "Commit again; the log says why.")
        case .noteFailed: ("The note could not be written.", "Commit again, or choose another template.")
        case .languagesIgnored: ("More than two languages were asked for.", "Ask for at most two.")
        case .unsaidContent: ("The model stated what was not said.", "Compare the note with the transcript.")
        case .writtenByRules: ("The language model failed, and the rules wrote the note.", "The log says why.")
        case .notTranslated: ("The note is in the spoken language.", "The server does not translate.")
        }
    }

    /// A span of time, roughly.
    static func span(_ seconds: TimeInterval) -> String {
        switch seconds {
        case ..<60: "\(max(0, Int(saturating: seconds))) s"
        case ..<3600: "\(Int(saturating: seconds / 60)) min"
        case ..<86_400: "\(Int(saturating: seconds / 3600)) h"
        default: "\(Int(saturating: seconds / 86_400)) d"
        }
    }

    /// A span of time, as it was measured.
    static func precise(_ seconds: TimeInterval) -> String {
        if seconds < 1 { return "\(Int(saturating: (seconds * 1000).rounded())) ms" }
        if seconds < 60 { return "\((seconds * 10).rounded() / 10) s" }
        return clock(seconds)
    }

    /// Minutes and seconds of a recording.
    static func clock(_ seconds: TimeInterval) -> String {
        let whole = Int(saturating: max(0, min(seconds, 864_000)))
        return "\(whole / 60):\((whole % 60).padded(to: 2))"
    }
}

extension RecordingState.Facts {
    init(_ row: RecordingSummary) {
        self.init(
            userStatus: row.userStatus, processingStatus: row.processingStatus, createdAt: row.createdAt,
            committedAt: row.committedAt, processedAt: row.processedAt, files: row.files, results: row.results,
            problem: row.problem, fixture: row.fixture)
    }

    init(_ transaction: Transaction, files: Int, _ documents: [ResultDocument]) {
        self.init(
            userStatus: transaction.userStatus, processingStatus: transaction.processingStatus,
            createdAt: transaction.createdAt, committedAt: transaction.committedAt,
            processedAt: transaction.processedAt, files: files, results: documents.map(\.status),
            problem: documents.first { $0.status == .failure }?.errors.first, fixture: transaction.request.fixture)
    }
}
