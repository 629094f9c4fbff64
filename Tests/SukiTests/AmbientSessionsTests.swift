import Basics
import Engines
import Foundation
import NIOCore
import RuntimeTestSupport
import ScribeDomain
import ScribeRuntime
import ScribeStore
import TestSupport
import Testing

@testable import Suki

struct AmbientSessionsTests {
    private let fixture: UseCaseFixture
    private var ambient: AmbientSessions { AmbientSessions(runtime: fixture.runtime, minimumDuration: 2) }
    private let id = TransactionID("a")
    private var key: Transaction.Key { fixture.key("a") }

    init() throws { fixture = try UseCaseFixture(policies: [AmbientPolicy()]) }

    /// Starts the session `a`.
    @discardableResult
    private func create(
        encounter: String? = "visit", for principal: Principal? = nil
    ) async throws -> TransactionID {
        var draft = AmbientSessions.Draft()
        draft.id = id
        draft.encounter = encounter
        return try await ambient.create(draft, for: principal ?? fixture.owner)
    }

    /// Feeds a segment with so many seconds of audio.
    private func speak(_ seconds: Int, into segment: AmbientSessions.Segment) async throws {
        try await segment.stream.take(ByteBuffer(repeating: 1, count: 32_000 * seconds), LiveOptions())
    }

    /// Records a segment that was spoken so many seconds after the session's beginning.
    /// - Returns: what its files are named after.
    @discardableResult
    private func record(_ seconds: Int, from start: Int) async throws -> String {
        let time = fixture.manual.now.addingTimeInterval(Double(start))
        let segment = try await ambient.record(from: time, in: id, of: fixture.owner)
        try await speak(seconds, into: segment)
        try await ambient.end(segment, of: id, for: fixture.owner)
        return segment.id
    }

    private func status() async throws -> AmbientStatus {
        ambient.status(of: try await ambient.find(id, of: fixture.owner))
    }

    // MARK: Beginning

    @Test("a repeated creation of an ambient session returns its id, and one for another visit is refused")
    func replay() async throws {
        #expect(try await create() == id)
        #expect(try await create() == id)
        #expect(try await create(encounter: nil) == id)
        let taken = ScribeError.transactionAlreadyInitialized
        await #expect(throws: taken) { try await create(encounter: "another visit") }
        await #expect(throws: taken) { try await create(for: fixture.colleague) }
        try await ambient.end(id, of: fixture.owner)
        #expect(try await create() == id)
        try await fixture.finish(key)
        await #expect(throws: taken) { try await create() }
    }

    @Test("an ambient session cannot take another API's transaction id, and does not show that transaction")
    func takenElsewhere() async throws {
        try await fixture.start("a")
        await #expect(throws: ScribeError.transactionAlreadyInitialized) { try await create() }
        await #expect(throws: ScribeError.transactionNotFound) { try await ambient.find(id, of: fixture.owner) }
    }

    @Test("another clinician finds no ambient session, in this business or in another")
    func othersSession() async throws {
        try await create()
        for other in [fixture.colleague, fixture.stranger] {
            await #expect(throws: ScribeError.transactionNotFound) { try await ambient.find(id, of: other) }
            await #expect(throws: ScribeError.transactionNotFound) { try await ambient.connect(id, of: other) }
            await #expect(throws: ScribeError.transactionNotFound) { try await ambient.end(id, of: other) }
            await #expect(throws: ScribeError.transactionNotFound) { try await ambient.cancel(id, of: other) }
        }
        #expect(try await status() == .created)
    }

    @Test("the recording stage of an ambient session never goes back")
    func stages() async throws {
        try await create()
        #expect(try await status() == .created)
        try await ambient.connect(id, of: fixture.owner)
        #expect(try await status() == .ready)
        try await ambient.advance(id, to: .running, of: fixture.owner)
        try await ambient.connect(id, of: fixture.owner)
        #expect(try await status() == .running)
    }

    @Test("an ambient session that was never ended fails after a week and refuses every step")
    func expiry() async throws {
        try await create()
        fixture.manual.advance(by: .seconds(AmbientPolicy.usualLifetime - 1))
        try await ambient.connect(id, of: fixture.owner)
        fixture.manual.advance(by: .seconds(1))
        #expect(try await status() == .failed)
        let expired = ScribeError.sessionExpired
        await #expect(throws: expired) { try await ambient.connect(id, of: fixture.owner) }
        await #expect(throws: expired) { try await ambient.receive(in: id, of: fixture.owner) }
        await #expect(throws: expired) { try await ambient.end(id, of: fixture.owner) }
        await #expect(throws: expired) { try await ambient.cancel(id, of: fixture.owner) }
        #expect(try await status() == .failed)
        await #expect(throws: ScribeError.transactionAlreadyInitialized) { try await create() }
    }

    @Test("a step that a fixture refuses leaves the ambient session unchanged")
    func refused() async throws {
        try await create(encounter: "fixture:refuse-upload")
        await #expect(throws: ScribeError.refusedOnPurpose) { try await ambient.connect(id, of: fixture.owner) }
        #expect(try await status() == .created)
        var draft = AmbientSessions.Draft()
        draft.encounter = "fixture:refuse-commit"
        let other = try await ambient.create(draft, for: fixture.owner)
        await #expect(throws: ScribeError.refusedOnPurpose) { try await ambient.end(other, of: fixture.owner) }
        #expect(try await ambient.requireOpen(other, of: fixture.owner).userStatus == .initialized)
    }

    // MARK: Context

    @Test("an ambient context is replaced as a whole, or merged on request")
    func context() async throws {
        try await create()
        let patient = JSONValue.object(["patient": .object(["sex": .string("female")])])
        let visit = JSONValue.object(["visit": .object(["visit_type": .string("ED")])])
        let first = try await ambient.setContext(patient, merging: false, of: id, for: fixture.owner)
        #expect(first.json == patient)
        let merged = try await ambient.setContext(visit, merging: true, of: id, for: fixture.owner)
        #expect(merged.json == patient.merged(with: visit))
        let replaced = try await ambient.setContext(visit, merging: false, of: id, for: fixture.owner)
        #expect(replaced.json == visit)
    }

    @Test("an invalid ambient context changes nothing")
    func wrongContext() async throws {
        try await create()
        let right = JSONValue.object(["patient": .object(["sex": .string("male")])])
        _ = try await ambient.setContext(right, merging: false, of: id, for: fixture.owner)
        let wrong = JSONValue.object([
            "visit": .object(["visit_type": .string("ED")]), "patient": .object(["dob": .string("2026-05-11")]),
        ])
        let refusal = ScribeError.invalidRequest(
            field: "patient.dob", problem: "must be a day as YYYY-MM-DD, not in the future")
        await #expect(throws: refusal) {
            try await ambient.setContext(wrong, merging: true, of: id, for: fixture.owner)
        }
        #expect(try await ambient.find(id, of: fixture.owner).ambientTerms?.context.json == right)
        try await ambient.cancel(id, of: fixture.owner)
        await #expect(throws: ScribeError.transactionCancelled) {
            try await ambient.setContext(right, merging: false, of: id, for: fixture.owner)
        }
    }

    // MARK: Audio

    @Test("an ambient session's stretches are ordered by start time, whenever they arrived")
    func order() async throws {
        try await create()
        let late = try await record(2, from: 60)
        let early = try await record(3, from: 0)
        try await ambient.end(id, of: fixture.owner)
        let transaction = try await fixture.transaction("a")
        #expect(transaction.committedFiles == ["\(early)-000001.wav", "\(late)-000001.wav"])
        #expect(
            transaction.stopped.times == [
                "\(early)-000001.wav": ChunkTimes(start: 0, end: 3), "\(late)-000001.wav": ChunkTimes(start: 3, end: 5),
            ])
    }

    @Test("the longest of several uploaded stretches with the same start counts")
    func sentAgain() async throws {
        try await create()
        try await record(1, from: 0)
        let longest = try await record(3, from: 0)
        try await record(3, from: 0)
        try await ambient.end(id, of: fixture.owner)
        #expect(try await fixture.transaction("a").committedFiles == ["\(longest)-000001.wav"])
    }

    @Test("a received stretch counts once it is kept, and a discarded one leaves nothing")
    func received() async throws {
        try await create()
        let kept = try await ambient.receive(in: id, of: fixture.owner)
        try await speak(2, into: kept)
        try await ambient.keep(kept, from: fixture.manual.now, in: id, of: fixture.owner)
        let broken = try await ambient.receive(in: id, of: fixture.owner)
        try await speak(2, into: broken)
        try await ambient.end(broken, of: id, for: fixture.owner)
        let discarded = try await ambient.record(from: fixture.manual.now, in: id, of: fixture.owner)
        try await speak(200, into: discarded)
        #expect(try fixture.files().count > 2)
        await ambient.discard(discarded, of: id, for: fixture.owner)
        #expect(try fixture.files().count == 2)
        let transaction = try await ambient.find(id, of: fixture.owner)
        let segments = try await fixture.store.transactions.segments(of: transaction.key)
        #expect(segments.recorded.map(\.recording) == [kept.id])
    }

    @Test("ending an ambient session stores what its open sockets hold")
    func openSocket() async throws {
        try await create()
        let segment = try await ambient.record(from: fixture.manual.now, in: id, of: fixture.owner)
        try await speak(2, into: segment)
        try await ambient.end(id, of: fixture.owner)
        #expect(try await fixture.transaction("a").committedFiles == ["\(segment.id)-000001.wav"])
        await #expect(throws: ScribeError.sessionEnded) { try await ambient.receive(in: id, of: fixture.owner) }
    }

    @Test("an ambient session shorter than two seconds is committed without audio", arguments: [0, 1, 2])
    func tooShort(seconds: Int) async throws {
        try await create()
        for second in 0..<seconds { try await record(1, from: second) }
        try await ambient.end(id, of: fixture.owner)
        #expect(try await fixture.transaction("a").committedFiles.count == (seconds < 2 ? 0 : 2))
    }

    // MARK: Ending

    @Test("a second end, or a cancellation after completion, does not change an ambient session")
    func ends() async throws {
        try await create()
        try await ambient.end(id, of: fixture.owner)
        let ended = try await fixture.transaction("a")
        fixture.manual.advance(by: .seconds(1))
        try await ambient.end(id, of: fixture.owner)
        #expect(try await fixture.transaction("a") == ended)
        try await fixture.finish(key)
        await #expect(throws: ScribeError.sessionEnded) { try await ambient.cancel(id, of: fixture.owner) }
        #expect(try await status() == .completed)
    }

    @Test("a cancelled ambient session may be cancelled again, and cannot be ended")
    func cancelled() async throws {
        try await create()
        try await ambient.cancel(id, of: fixture.owner)
        try await ambient.cancel(id, of: fixture.owner)
        #expect(try await status() == .aborted)
        await #expect(throws: ScribeError.transactionCancelled) { try await ambient.end(id, of: fixture.owner) }
    }

    @Test("the clinician's preferences at the end choose an ambient note's narrative sections")
    func narrative() async throws {
        let formats: [JSONValue] = [
            .object(["loinc": .string("10164-2"), "style": .string("NARRATIVE")]),
            .object(["loinc": .string("51847-2"), "style": .string("BULLETED")]),
        ]
        try await create()
        try await fixture.store.accounts.setPreferences(
            .object([AmbientSessions.sectionFormat: .array(formats)]), of: fixture.owner.user,
            in: fixture.owner.business, upTo: 1 << 20, at: fixture.manual.now)
        try await ambient.end(id, of: fixture.owner)
        #expect(try await fixture.transaction("a").ambientTerms?.narrativeSections == ["10164-2"])
    }

    @Test("only a complete ambient session has a note, and a silent one has none")
    func note() async throws {
        try await create()
        let early = ScribeError.invalidState("The session is not complete yet")
        await #expect(throws: early) { try await ambient.note(of: fixture.transaction("a")) }
        try await ambient.end(id, of: fixture.owner)
        await #expect(throws: early) { try await ambient.note(of: fixture.transaction("a")) }
        let written = #"[{"title":"Plan","value":"rest"},{"title":"Assessment","value":"flu"}]"#
        try await fixture.finish(key, values: [AmbientTerms.template.rawValue: written, "transcript": "said"])
        let note = try #require(try await ambient.note(of: fixture.transaction("a")))
        #expect(note.transcript == "said")
        #expect(note.sections.map { $0.title } == ["Plan", "Assessment"])
        let silent = try await ambient.create(AmbientSessions.Draft(), for: fixture.owner)
        try await ambient.end(silent, of: fixture.owner)
        try await fixture.finish(fixture.key(silent.rawValue), .requestFailure)
        #expect(try await ambient.note(of: fixture.transaction(silent.rawValue)) == nil)
    }
}
