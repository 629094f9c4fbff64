import Foundation
import ScribeDomain
import Testing

@testable import Console

/// Words for what became of a consultation.
struct RecordingStateTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private static func facts(
        _ user: Transaction.UserStatus = .committed, _ processing: Transaction.ProcessingStatus = .success,
        age: TimeInterval = 60, results: [ResultDocument.Status] = [.success, .success],
        problem: Diagnostic.Code? = nil, fixture: String? = nil
    ) -> RecordingState.Facts {
        RecordingState.Facts(
            userStatus: user, processingStatus: processing, createdAt: now.addingTimeInterval(-age),
            committedAt: now.addingTimeInterval(-3), processedAt: now.addingTimeInterval(-0.5), files: 3,
            results: results, problem: problem.map { Diagnostic($0, "") }, fixture: fixture)
    }

    @Test(
        "the console has one word for each state of a transaction",
        arguments: [
            (facts(.initialized, .inProgress), "Recording"),
            (facts(.initialized, .inProgress, age: 3600), "Not committed"),
            (facts(.stopped, .inProgress), "Not committed"), (facts(.committed, .inProgress), "Processing"),
            (facts(), "Done"), (facts(results: [.partialSuccess, .success]), "Partial"),
            (facts(results: [.success, .failure], problem: .noteFailed), "Partial"),
            (facts(.committed, .requestFailure, results: [.failure, .failure], problem: .noAudio), "Failed"),
            (facts(.committed, .systemFailure, results: []), "Failed"),
            (
                facts(.committed, .requestFailure, results: [.failure], problem: .noSpeech, fixture: "silence"),
                "Failed as asked"
            ),
            (facts(.cancelled, .cancelled), "Cancelled"), (facts(.initialized, .requestFailure, results: []), "Failed"),
        ])
    func words(facts: RecordingState.Facts, word: String) {
        #expect(RecordingState(of: facts, at: Self.now).kind.word == word)
    }

    @Test("the console explains a failure and gives advice, unless a fixture asked for the failure")
    func advice() {
        let failed = Self.facts(.committed, .requestFailure, results: [.failure], problem: .noAudio)
        let state = RecordingState(of: failed, at: Self.now)
        #expect(state.problem == "No audio arrived.")
        #expect(state.advice?.hasSuffix(".") == true)
        let asked = Self.facts(
            .committed, .requestFailure, results: [.failure], problem: .noAudio, fixture: "no_audio")
        #expect(RecordingState(of: asked, at: Self.now).problem == nil)
        #expect(RecordingState(of: Self.facts(), at: Self.now).outcome == "1 note in 2.5 s")
    }

    @Test("the console explains every diagnostic code in two sentences", arguments: Diagnostic.Code.allCases)
    func sentences(code: Diagnostic.Code) {
        let (what, advice) = RecordingState.explanation(of: code)
        #expect(what.hasSuffix(".") && advice.hasSuffix("."))
        #expect(!what.contains(code.rawValue))
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
