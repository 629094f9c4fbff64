import Engines
import Foundation
import ScribeDomain
import Testing

@testable import Console

/// Words for what became of a recording: one table over every way to end.
struct RecordingStateTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private static func facts(
        _ user: Transaction.UserStatus = .committed, _ processing: Transaction.ProcessingStatus = .success,
        age: TimeInterval = 60, silence: TimeInterval? = nil, files: Int = 3,
        results: [ResultDocument.Status] = [.success, .success],
        problems: [Diagnostic] = [], fixture: NamedFixture? = nil, rules: RecordingState.Facts.Rules = .init()
    ) -> RecordingState.Facts {
        RecordingState.Facts(
            userStatus: user, processingStatus: processing, createdAt: now.addingTimeInterval(-age),
            committedAt: now.addingTimeInterval(-3), processedAt: now.addingTimeInterval(-0.5),
            lastSoundAt: silence.map { now.addingTimeInterval(-$0) }, files: files, results: results,
            problems: problems, fixture: fixture, rules: rules)
    }

    /// A recording of which nothing became.
    private static func failed(
        _ code: Diagnostic.Code, cause: Diagnostic.Cause? = nil, files: Int = 3, _ fixture: NamedFixture? = nil,
        rules: RecordingState.Facts.Rules = .init()
    ) -> RecordingState.Facts {
        facts(
            .committed, .requestFailure, files: files, results: [.failure, .failure],
            problems: [Diagnostic(code, "", cause: cause)], fixture: fixture, rules: rules)
    }

    private static func named(_ name: String, _ content: Fixture?, hasTexts: Bool = true) -> NamedFixture {
        NamedFixture(name: name, content: content, hasTexts: hasTexts, knownNames: ["no-speech", "slow"])
    }

    private static func refusing(_ step: Fixture.Step) -> NamedFixture {
        named("refused", Fixture(name: "refused", refuses: [step]))
    }

    struct Ending: Sendable, CustomTestStringConvertible {
        let name: String
        let facts: RecordingState.Facts
        let word: String
        let tone: RecordingState.Tone
        let outcome: String
        /// nil for a quiet state.
        var problem: String?

        var testDescription: String { name }

        init(
            _ name: String, _ facts: RecordingState.Facts, _ word: String, _ tone: RecordingState.Tone,
            _ outcome: String, problem: String? = nil
        ) {
            self.name = name
            self.facts = facts
            self.word = word
            self.tone = tone
            self.outcome = outcome
            self.problem = problem
        }
    }

    private static let ambient = RecordingState.Facts.Rules(
        ending: "end", lifetime: "7 d", leastAudio: 60, endsByOwnAPIOnly: true)
    private static let expired = RecordingState.Facts.Rules(isExpired: true, lifetime: "1 d")

    private static let open = [
        Ending("new", facts(.initialized, .inProgress, files: 0), "Recording", .neutral, "No file yet"),
        Ending("one file", facts(.initialized, .inProgress, files: 1), "Recording", .neutral, "1 file so far"),
        Ending(
            "no commit", facts(.initialized, .inProgress, age: 3600), "Not committed", .doubtful,
            "Begun, but no commit for 1 h", problem: "No commit has come."),
        Ending(
            "audio still comes", facts(.initialized, .inProgress, age: 3600, silence: 20), "Recording", .neutral,
            "3 files so far"),
        Ending(
            "audio came last an hour ago", facts(.initialized, .inProgress, age: 7200, silence: 3600), "Not committed",
            .doubtful, "Begun, but no commit for 1 h", problem: "No commit has come."),
        Ending(
            "session without its end", facts(.initialized, .inProgress, age: 3600, rules: .init(ending: "end")),
            "Not committed", .doubtful, "Begun, but no end for 1 h", problem: "No end has come."),
        Ending(
            "stopped just now", facts(.stopped, .inProgress, silence: 5), "Recording", .neutral, "Stopped, 3 files"),
        Ending(
            "stopped alone", facts(.stopped, .inProgress), "Not committed", .doubtful,
            "Stopped, but not committed", problem: "No commit has come."),
        Ending(
            "commit refused", facts(.stopped, .inProgress, fixture: refusing(.commit)), "Refused as asked",
            .asked,
            "Stopped; its fixture refuses the commit"),
        Ending(
            "commit refused later", facts(.initialized, .inProgress, fixture: refusing(.commit)), "Recording",
            .neutral, "3 files so far; its fixture refuses the commit"),
        Ending(
            "stop refused", facts(.initialized, .inProgress, age: 3600, fixture: refusing(.stop)),
            "Refused as asked", .asked, "Begun; its fixture refuses the stop"),
        Ending(
            "uploads refused", facts(.initialized, .inProgress, age: 3600, files: 0, fixture: refusing(.upload)),
            "Refused as asked", .asked, "Begun; its fixture refuses uploads"),
        Ending(
            "expired session", facts(.initialized, .inProgress, age: 90_000, rules: expired), "Expired", .bad,
            "Not ended within 1 d", problem: "The session expired before it was ended."),
        Ending(
            "processing", facts(.committed, .inProgress, results: [.inProgress]), "Processing", .neutral,
            "Recognising and writing the note"),
        Ending(
            "held back",
            facts(.committed, .inProgress, fixture: named("slow", Fixture(name: "slow", delay: 20))), "Processing",
            .neutral, "Held back for 20 s, by its fixture"),
        Ending("cancelled", facts(.cancelled, .cancelled), "Cancelled", .neutral, "Cancelled"),
        Ending("cancelled late", facts(.committed, .cancelled), "Cancelled", .neutral, "Cancelled"),
    ]

    private static let ended = [
        Ending("done", facts(), "Done", .good, "1 note in 2.5 s"),
        Ending("transcript alone", facts(results: [.success]), "Done", .good, "Transcript in 2.5 s"),
        Ending(
            "done with another fixture", facts(fixture: named("follow-up", Fixture(name: "follow-up", text: "x"))),
            "Done", .good, "1 note in 2.5 s"),
        Ending(
            "partial", facts(results: [.partialSuccess, .partialSuccess], problems: [.init(.lowConfidence, "")]),
            "Partial", .doubtful, "Results with a doubt", problem: "The recogniser was not sure."),
        Ending(
            "partial, and more",
            facts(
                results: [.partialSuccess, .partialSuccess],
                problems: [.init(.chunkGap, ""), .init(.audioMissing, "")]), "Partial", .doubtful,
            "A part of what was said is missing", problem: "The commit named a file that never came."),
        Ending(
            "no note", facts(results: [.success, .failure], problems: [.init(.noteFailed, "")]), "Partial", .doubtful,
            "0 of 1 note", problem: "The note could not be written."),
        Ending(
            "partial fixture",
            facts(
                results: [.partialSuccess, .partialSuccess], problems: [.init(.lowConfidence, "")],
                fixture: named("partial", Fixture(name: "partial", warning: .lowConfidence))), "Partial as asked",
            .asked, "low_confidence, by its fixture"),
        Ending(
            "partial fixture, and a file that is missing",
            facts(
                results: [.partialSuccess], problems: [.init(.lowConfidence, ""), .init(.audioMissing, "")],
                fixture: named("partial", Fixture(name: "partial", warning: .lowConfidence))), "Partial", .doubtful,
            "A part of what was said is missing", problem: "The commit named a file that never came."),
        Ending(
            "note by a rule",
            facts(
                results: [.success, .failure], problems: [.init(.noteFailed, "", cause: .faultRule)]),
            "Partial as asked", .asked, "note_failed, by a fault rule"),
        Ending(
            "system failure", facts(.committed, .systemFailure, results: []), "Failed", .bad, "Processing failed",
            problem: "Processing failed."),
        Ending(
            "never committed", facts(.initialized, .requestFailure, results: []), "Failed", .bad, "Processing failed",
            problem: "Processing failed."),
        Ending(
            "ended by hand", failed(.transcriptionFailed, cause: .operatorCall), "Failed as asked", .asked,
            "transcription_failed, by an operator"),
        Ending(
            "mistyped fixture", failed(.unknownFixture, named("no-speach", nil)), "Failed", .bad,
            "There is no fixture “no-speach”", problem: "There is no fixture “no-speach”."),
        Ending(
            "silent fixture", failed(.noSpeech, named("no-speech", Fixture(name: "no-speech", text: ""))),
            "Failed as asked", .asked, "no_speech, by its fixture"),
        Ending(
            "silence with a real recogniser",
            failed(.noSpeech, named("no-speech", Fixture(name: "no-speech", text: ""), hasTexts: false)), "Failed",
            .bad, "The audio has no speech", problem: "The audio has no speech."),
        Ending(
            "failure that the fixture does not ask for",
            failed(.audioMissing, named("follow-up", Fixture(name: "follow-up", text: "x"))), "Failed", .bad,
            "The commit named a file that never came", problem: "The commit named a file that never came."),
        Ending(
            "uploads refused, then committed", failed(.audioMissing, files: 0, refusing(.upload)), "Failed as asked",
            .asked, "audio_missing, by its fixture"),
        Ending(
            "fixture that was removed since", failed(.undecodableAudio, named("mine", nil)), "Failed as asked", .asked,
            "undecodable_audio, by its fixture"),
        Ending(
            "short ambient session", failed(.noAudio, files: 1, rules: ambient), "Skipped", .doubtful,
            "The session has less than 1 min of audio, so that it was skipped",
            problem: "The session has less than 1 min of audio, so that it was skipped."),
        Ending(
            "ambient session without audio", failed(.noAudio, files: 0, rules: ambient), "Skipped", .doubtful,
            "No audio arrived", problem: "No audio arrived."),
        Ending(
            "silent ambient session", failed(.noSpeech, rules: ambient), "Skipped", .doubtful,
            "The audio has no speech", problem: "The audio has no speech."),
        Ending(
            "ambient session whose note failed",
            facts(
                .committed, .systemFailure, results: [.success, .failure], problems: [.init(.noteFailed, "")],
                rules: ambient), "Failed", .bad, "The note could not be written",
            problem: "The note could not be written."),
    ]

    @Test("the console has one word, one tone and one sentence for each way to end", arguments: open + ended)
    func ending(_ ending: Ending) {
        let state = RecordingState(of: ending.facts, at: Self.now)
        #expect(state.word == ending.word)
        #expect(state.tone == ending.tone)
        #expect(state.outcome == ending.outcome)
        #expect(state.problem == ending.problem)
        #expect((state.advice == nil) == (ending.problem == nil))
        #expect(state.advice?.hasSuffix(".") != false)
    }

    @Test("each failure is red with two sentences, unless a tester asked for it", arguments: Diagnostic.Code.allCases)
    func codes(code: Diagnostic.Code) {
        let state = RecordingState(of: Self.failed(code), at: Self.now)
        #expect(state.word == "Failed" && state.style == "fail")
        #expect(state.problem?.hasSuffix(".") == true && state.advice?.hasSuffix(".") == true)
        #expect(state.problem?.contains(code.rawValue) == false)
        let fixture = Self.named("x", Fixture(name: "x", failure: code))
        for asked in [
            Self.failed(code, fixture), Self.failed(code, cause: .faultRule), Self.failed(code, cause: .operatorCall),
        ] {
            let state = RecordingState(of: asked, at: Self.now)
            #expect(state.word == "Failed as asked" && state.style == "ask" && state.problem == nil)
            #expect(state.outcome.hasPrefix("\(code.rawValue), by "))
        }
    }

    @Test("a mistyped fixture is told with the known names, a bounded number of them")
    func knownNames() {
        let advice = RecordingState(of: Self.failed(.unknownFixture, Self.named("x", nil)), at: Self.now).advice
        #expect(advice == "The known ones are no-speech, slow.")
        let many = NamedFixture(name: "x", content: nil, knownNames: (0..<1000).map { "fixture-\($0)" })
        #expect(many.advice.hasSuffix(" and more.") && many.advice.count < 1000)
        let hidden = NamedFixture(name: nil, content: nil, knownNames: ["slow"])
        let state = RecordingState(of: Self.failed(.unknownFixture, hidden), at: Self.now)
        #expect(state.problem == "There is no fixture of this name.")
    }

    @Test("a recording that only its own API ends is not said to be committed here")
    func ownAPI() {
        let facts = Self.facts(.initialized, .inProgress, age: 3600, rules: Self.ambient)
        #expect(RecordingState(of: facts, at: Self.now).advice?.contains("its own API") == true)
    }

    @Test("the console writes spans of time briefly and never as negative numbers")
    func spans() {
        #expect(RecordingState.span(-5) == "0 s")
        #expect(RecordingState.span(59) == "59 s")
        #expect(RecordingState.span(3599) == "59 min")
        #expect(RecordingState.span(90_000) == "1 d")
        #expect(RecordingState.clock(61.9) == "1:01")
        #expect(RecordingState.clock(.infinity) == "14400:00")
        #expect(RecordingState.precise(0.0123) == "12 ms")
    }
}
