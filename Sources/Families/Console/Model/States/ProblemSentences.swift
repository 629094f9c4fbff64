import ScribeDomain

/// Sentences about a problem of a recording, for the developer of a client: what has happened, and the remedy.
struct ProblemSentences: Hashable, Sendable {
    let what: String
    /// Sentence about the remedy; for a problem that a tester asked for, about who asked.
    let advice: String
    /// Tester's act that the problem comes from, such as `its fixture`; nil if no tester asked for it.
    let asker: String?

    /// - Parameter facts: Facts of the recording that has the problem.
    init(_ problem: Diagnostic, in facts: RecordingState.Facts) {
        let usual = Self.explanation(of: problem.code, in: facts)
        what = usual.what
        asker = Self.asker(of: problem, in: facts)
        advice = asker.map { "\($0.prefix(1).uppercased() + $0.dropFirst()) asked for it." } ?? usual.advice
    }

    var tone: RecordingState.Tone { asker == nil ? .bad : .asked }

    private static func asker(of problem: Diagnostic, in facts: RecordingState.Facts) -> String? {
        switch problem.cause {
        case .operatorCall: "an operator"
        case .faultRule: "a fault rule"
        case nil: facts.fixture?.asks(for: problem.code) == true ? "its fixture" : nil
        }
    }

    private static func explanation(
        of code: Diagnostic.Code, in facts: RecordingState.Facts
    ) -> (what: String, advice: String) {
        switch code {
        case .noAudio:
            if let least = facts.rules.leastAudio, facts.files > 0 {
                return (
                    "The session has less than \(RecordingState.span(least)) of audio, so that it was skipped.",
                    "Record longer, or start the server with a smaller suki-shortest."
                )
            }
            if facts.rules.ending != "commit" {
                return ("No audio arrived.", "Send audio between the session's beginning and its end.")
            }
        case .unknownFixture:
            if let fixture = facts.fixture {
                let name = fixture.name.map { "“\($0)”" } ?? "of this name"
                return ("There is no fixture \(name).", fixture.advice)
            }
        default: break
        }
        return explanation(of: code)
    }

    /// Meaning of a code, whatever the recording.
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
}
