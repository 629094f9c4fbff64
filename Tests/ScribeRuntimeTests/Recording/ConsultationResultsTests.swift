import Basics
import Engines
import Foundation
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

/// Results, edits and conversions of ``Consultations``.
struct ConsultationResultsTests {
    private let fixture: UseCaseFixture
    private var transactions: Transactions { fixture.transactions }

    init() throws { fixture = try UseCaseFixture() }

    /// Starts a consultation and commits it without audio.
    private func commit(templates: [String] = ["soap"]) async throws {
        try await fixture.start(templates: templates)
        try await transactions.commit(fixture.key(), ChunkList(files: []))
    }

    private func poll(atMost limit: Duration) async throws -> Transactions.Results {
        try await transactions.results(of: fixture.key(), atMost: limit, until: OneShotSignal()) {
            $0.documents.outcome != .inProgress
        }
    }

    @Test("a poll is held until the transaction's results are final")
    func heldPoll() async throws {
        try await commit()
        try await withinTheTimeOfATest {
            let polling = Task { try await poll(atMost: .seconds(14)).documents.map(\.status) }
            try await fixture.manual.waitFor(.heldPoll)
            try await fixture.finish(fixture.key())
            #expect(try await polling.value == [.success, .success])
        }
    }

    @Test("a poll that times out gets the results so far")
    func timedOutPoll() async throws {
        try await commit()
        try await withinTheTimeOfATest {
            let polling = Task { try await poll(atMost: .seconds(14)).documents.map(\.status) }
            try await fixture.manual.waitFor(.heldPoll)
            fixture.manual.advance(by: .seconds(14))
            #expect(try await polling.value == [.inProgress, .inProgress])
        }
    }

    @Test("several edits of results are stored together, or none of them")
    func edits() async throws {
        try await commit()
        let transcript = ResultEdit(target: .template(ResultDocument.transcriptTemplate), value: "corrected")
        let unknown = ResultEdit(target: .template(.init("unknown")), value: "x")
        await #expect(throws: ScribeError.resultNotFound) {
            try await transactions.edit(fixture.key(), [transcript, unknown])
        }
        #expect(try await fixture.documents().allSatisfy { !$0.isEdited })
        let note = ResultEdit(target: .document(try await fixture.documents()[1].id), value: "mine")
        try await transactions.edit(fixture.key(), [transcript, note])
        #expect(try await fixture.documents().map(\.value) == ["corrected", "mine"])
        await #expect(throws: ScribeError.transactionNotFound) {
            try await transactions.edit(fixture.key(of: fixture.stranger), [note])
        }
    }

    @Test("one request may have two hundred edits of results, and not one more")
    func maxEdits() async throws {
        try await commit()
        let edit = ResultEdit(target: .template(.init("soap")), value: "mine")
        try await transactions.edit(fixture.key(), Array(repeating: edit, count: Limits.edits))
        let refusal = ScribeError.invalidRequest(field: "the body", problem: "must have at most 200 items")
        await #expect(throws: refusal) {
            try await transactions.edit(fixture.key(), Array(repeating: edit, count: Limits.edits + 1))
        }
    }

    @Test("a conversion of an uncommitted, cancelled or unknown transaction is refused")
    func convertible() async throws {
        try await fixture.start()
        let early = ScribeError.invalidState("The transaction was not committed yet")
        await #expect(throws: early) {
            try await transactions.convert(fixture.key(), to: TemplateID("soap"), in: nil, from: .recording)
        }
        for template in [nil, TemplateID("soap")] {
            await #expect(throws: ScribeError.transactionNotFound) {
                try await transactions.convert(fixture.key("unknown"), to: template, in: nil, from: .recording)
            }
        }
        var patch = TransactionPatch()
        patch.isCancellation = true
        _ = try await transactions.patch(fixture.key(), patch)
        await #expect(throws: ScribeError.transactionCancelled) {
            try await transactions.convert(fixture.key(), to: TemplateID("soap"), in: nil, from: .recording)
        }
    }

    @Test("a corrected note is written anew, whether or not its template is named")
    func correctedNote() async throws {
        try await commit()
        try await fixture.finish(fixture.key())
        try await transactions.edit(fixture.key(), [ResultEdit(target: .template(.init("soap")), value: "mine")])
        let kept = try await transactions.convert(fixture.key(), to: nil, in: nil, from: .recording)
        #expect(kept.template == TemplateID("soap"))
        #expect(try await fixture.documents().map(\.value) == ["Transcript", nil])
        let anew = try await transactions.convert(fixture.key(), to: TemplateID("soap"), in: "hi", from: .recording)
        #expect(anew.document == kept.document)
        let note = try await fixture.documents()[1]
        #expect(note.status == .inProgress && note.language == "hi" && !note.isEdited)
    }

    @Test("a conversion rewrites the document of its template, or adds another on request")
    func furtherDocument() async throws {
        try await commit()
        try await fixture.finish(fixture.key())
        let note = try await fixture.documents()[1].id
        let same = try await transactions.convert(fixture.key(), to: TemplateID("soap"), in: nil, from: .recording)
        #expect(same.document == note)
        let other = try await transactions.convert(
            fixture.key(), to: TemplateID("soap"), in: nil, from: .recording, addsOne: true)
        #expect(other.document != note)
        #expect(try await fixture.documents().map(\.templateID.rawValue) == ["transcript", "soap", "soap"])
    }

    @Test("a supplied transcript commits a transaction that has just begun, and no other")
    func suppliedTranscript() async throws {
        try await fixture.start()
        _ = try await transactions.convert(fixture.key(), to: nil, in: nil, from: .transcript("said"))
        #expect(try await fixture.transaction().userStatus == .committed)
        let transcript = try await fixture.documents()[0]
        #expect(transcript.value == "said" && transcript.isEdited)
        let late = ScribeError.invalidState(
            "A transcript can only be supplied to a transaction that was just initialized")
        await #expect(throws: late) {
            try await transactions.convert(fixture.key(), to: nil, in: nil, from: .transcript("again"))
        }
        #expect(try await fixture.documents()[0].value == "said")
    }

    @Test("a transcript beyond the limit is refused, and the transaction stays open")
    func longTranscript() async throws {
        try await fixture.start()
        let text = String(repeating: "a", count: Limits.transcript + 1)
        let refusal = ScribeError.invalidRequest(field: "transcript", problem: "must have at most 524288 bytes")
        await #expect(throws: refusal) {
            try await transactions.convert(fixture.key(), to: nil, in: nil, from: .transcript(text))
        }
        #expect(try await fixture.transaction().userStatus == .initialized)
    }

    @Test("a poll for an untranscribed chunk by its number starts the transcription and gets the text")
    func askedChunk() async throws {
        try await fixture.start()
        try await fixture.upload("7.wav")
        try await withinTheTimeOfATest {
            let asking = Task {
                try await transactions.chunkTranscript(
                    of: fixture.key(), file: "7", atMost: .seconds(14), until: OneShotSignal())
            }
            try await fixture.manual.waitFor(.heldPoll)
            let claim = try await fixture.store.work.claimJobs(.transcribe, upTo: 2, at: fixture.manual.now)
            guard case .jobs(let jobs) = claim, case .transcribe(let chunk)? = jobs.first?.work else {
                Issue.record("nobody is to hear the chunk")
                return asking.cancel()
            }
            #expect(chunk.name == "7.wav")
            try await fixture.store.work.finishTranscription(
                jobs[0], of: chunk, result: .success(RecognisedSpeech(text: "seven")), at: fixture.manual.now)
            #expect(try await asking.value.result.get().text == "seven")
        }
    }

    @Test("a poll for a missing chunk, or for a chunk of a fixture, is not found and starts no job")
    func missingChunk() async throws {
        let missing = ScribeError.resourceNotFound("No such chunk, or not transcribed yet")
        try await fixture.start()
        try await fixture.start("played", refusing: .stop)
        try await fixture.upload("1.wav", to: fixture.location("played"))
        for (id, file) in [("t", "1.wav"), ("played", "1.wav"), ("played", "2.wav")] {
            await #expect(throws: missing) {
                try await transactions.chunkTranscript(
                    of: fixture.key(id), file: file, atMost: .zero, until: OneShotSignal())
            }
        }
        #expect(
            try await fixture.store.work.claimJobs(.transcribe, upTo: 1, at: fixture.manual.now)
                == Claim.nothing(until: nil)
        )
        await #expect(throws: ScribeError.transactionNotFound) {
            try await transactions.chunkTranscript(
                of: fixture.key(of: fixture.stranger), file: "1.wav", atMost: .zero, until: OneShotSignal())
        }
    }
}
