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

@testable import Alliance

struct SessionsTests {
    private let fixture: UseCaseFixture
    private var sessions: ProtocolSessions { ProtocolSessions(fixture.runtime) }
    private var key: Transaction.Key { fixture.key("s") }
    private var location: AudioLocation { AudioLocation(bucket: "bucket", folder: "sessions/s") }

    init() throws { fixture = try UseCaseFixture(policies: [SessionPolicy()]) }

    /// Starts the session `s`.
    /// - Parameter step: the one that is refused on purpose.
    @discardableResult
    private func create(
        _ type: UploadType = .chunked, templates: [String] = ["soap"], refusing step: Fixture.Step? = nil
    ) async throws -> Transaction {
        var request = TransactionRequest(session: type)
        request.templates = templates.map { .init(id: TemplateID($0), type: "custom") }
        request.additionalData = step.map { .object(["fixture": .string("fixture:refuse-\($0.rawValue)")]) }
        return try await sessions.create(request, as: TransactionID("s"), for: fixture.owner)
    }

    private func find(atMost limit: Duration = .zero) async throws -> ProtocolSessions.Contents {
        try await sessions.find(key, atMost: limit, until: OneShotSignal()) { $0 }
    }

    private func cancel() async throws {
        var patch = TransactionPatch()
        patch.isCancellation = true
        try await sessions.patch(key, patch, templates: nil)
    }

    // MARK: Beginning

    @Test("a protocol session created without an id gets an id, and its audio folder is named after that id")
    func freshID() async throws {
        let request = TransactionRequest(session: .chunked)
        let first = try await sessions.create(request, as: nil, for: fixture.owner)
        let second = try await sessions.create(request, as: nil, for: fixture.owner)
        #expect(first.id != second.id)
        #expect(first.id.rawValue.hasPrefix("ses_"))
        #expect(first.request.audioLocation == AudioLocation(bucket: "bucket", folder: "sessions/\(first.id)"))
    }

    @Test("creating a protocol session under an existing id is refused")
    func taken() async throws {
        try await create()
        await #expect(throws: ScribeError.transactionAlreadyInitialized) { try await create() }
    }

    @Test("a protocol session of one whole recording stays open until its end call")
    func single() async throws {
        #expect(try await create(.single).userStatus == .initialized)
        try await fixture.upload("visit.wav", to: location)
        #expect(try await sessions.end(key) == ["visit.wav"])
    }

    @Test("no protocol session begins once its business has used up its storage")
    func storageUsedUp() async throws {
        var quotas = Quotas()
        quotas.storedBytes = 100
        let fixture = try UseCaseFixture(quotas: quotas, policies: [SessionPolicy()])
        let sessions = ProtocolSessions(fixture.runtime)
        try await fixture.upload("1.wav", Data(count: 100))
        let request = TransactionRequest(session: .chunked)
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            try await sessions.create(request, as: nil, for: fixture.owner)
        }
        _ = try await sessions.create(request, as: nil, for: fixture.stranger)
    }

    @Test("a business may use the server's templates and its own, but no template that it has removed")
    func knownTemplates() async throws {
        let (store, business) = (fixture.store, fixture.owner.business)
        for id in ["own", "removed"] {
            let template = CustomTemplate(id: .init(id), title: id, summary: nil, sectionIDs: [])
            try await store.templates.addTemplate(template, to: business, at: fixture.manual.now)
        }
        try await store.templates.archiveTemplate(.init("removed"), of: business, at: fixture.manual.now)
        try await sessions.requireTemplates([.init("soap"), .init("own")], of: business)
        let error = await #expect(throws: AllianceError.self) {
            try await sessions.requireTemplates([.init("soap"), .init("removed")], of: business)
        }
        guard case .invalidTemplate("removed", let known) = error else { throw try #require(error) }
        #expect(known.contains("soap") && known.contains("own") && !known.contains("removed"))
        #expect(try await !sessions.hasTemplate(.init("own"), of: fixture.stranger.business))
        #expect(try await sessions.templates(of: business).map { $0.id.rawValue } == ["own", "notes", "soap"])
    }

    // MARK: Ending

    @Test("ending a protocol session commits its uploaded audio files in order, and no other files")
    func endOrder() async throws {
        try await create()
        for name in ["audio_10.mp3", "visit.wav", "audio_2.mp3", "manifest.json", "full.m4a_"] {
            try await fixture.upload(name, to: location)
        }
        let files = ["audio_2.mp3", "audio_10.mp3", "visit.wav"]
        #expect(try await sessions.end(key) == files)
        #expect(try await fixture.transaction(key.id.rawValue).committedFiles == files)
        #expect(try await fixture.assembly(of: key).input.transaction.orderedFiles == files)
    }

    @Test("only one of several concurrent end calls ends a protocol session")
    func parallelEnds() async throws {
        try await create()
        let outcome = await atOnce { try await sessions.end(key) }
        #expect(outcome.values.map(\.count) == [0], "without audio too")
        #expect(outcome.failures == Array(repeating: ScribeError.sessionEnded, count: 7))
        #expect(try await sessions.isEnded(key))
    }

    @Test("ending a protocol session stores the audio that its open sockets still hold")
    func endWithSocket() async throws {
        try await create(.stream)
        let recording = try await fixture.streams.begin(key.id, LiveOptions(), for: fixture.owner)
        try await recording.take(ByteBuffer(repeating: 1, count: 32_000), LiveOptions())
        #expect(try fixture.files().isEmpty)
        #expect(try await sessions.end(key) == ["1.wav"])
        #expect(try fixture.files().count == 1)
    }

    @Test("a second socket of a protocol session numbers its chunks after those of the first")
    func secondSocket() async throws {
        try await create(.stream)
        for _ in 0..<2 {
            let recording = try await fixture.streams.begin(key.id, LiveOptions(), for: fixture.owner)
            try await recording.take(ByteBuffer(repeating: 1, count: 32_000), LiveOptions())
        }
        #expect(try await sessions.end(key) == ["1.wav", "2.wav"])
    }

    @Test("an end call that a fixture refuses leaves the protocol session open")
    func refusedEnd() async throws {
        try await create(refusing: .commit)
        await #expect(throws: ScribeError.refusedOnPurpose) { try await sessions.end(key) }
        #expect(try await sessions.requireOpen(key).userStatus == .initialized)
    }

    @Test("an expired protocol session refuses every change, through either API")
    func expiry() async throws {
        try await create()
        fixture.manual.advance(by: .seconds(SessionPolicy.usualLifetime - 1))
        _ = try await sessions.requireOpen(key)
        #expect(try await !find().isExpired)
        fixture.manual.advance(by: .seconds(1))
        #expect(try await find().isExpired)
        await #expect(throws: ScribeError.sessionExpired) { try await sessions.requireOpen(key) }
        await #expect(throws: ScribeError.sessionExpired) { try await sessions.end(key) }
        await #expect(throws: ScribeError.sessionExpired) { try await cancel() }
        await #expect(throws: ScribeError.sessionExpired) {
            try await fixture.transactions.stop(key, ChunkList(files: []))
        }
        await #expect(throws: ScribeError.sessionExpired) {
            try await fixture.transactions.commit(key, ChunkList(files: []))
        }
    }

    @Test("a change of a closed protocol session is refused as ended or as completed")
    func closed() async throws {
        try await create()
        _ = try await sessions.end(key)
        await #expect(throws: ScribeError.sessionEnded) { try await sessions.requireOpen(key) }
        try await fixture.finish(key)
        await #expect(throws: ScribeError.sessionCompleted) { try await sessions.requireOpen(key) }
        await #expect(throws: ScribeError.transactionNotFound) {
            try await sessions.requireOpen(fixture.key("s", of: fixture.stranger))
        }
        let other = try await sessions.create(.init(session: .chunked), as: nil, for: fixture.owner).key
        var patch = TransactionPatch()
        patch.isCancellation = true
        try await sessions.patch(other, patch, templates: nil)
        await #expect(throws: ScribeError.sessionEnded) { try await sessions.requireOpen(other) }
        await #expect(throws: ScribeError.sessionEnded) { try await sessions.end(other) }
    }

    // MARK: Documents

    @Test("a patch replaces the templates of an open protocol session, and not those of an ended one")
    func otherTemplates() async throws {
        try await create(templates: ["soap"])
        let transcript = try await fixture.documents("s")[0]
        try await sessions.patch(key, TransactionPatch(), templates: [.init("notes"), .init("mine")])
        let documents = try await fixture.documents("s")
        #expect(documents.map(\.templateID.rawValue) == ["transcript", "notes", "mine"])
        #expect(documents[0] == transcript)
        #expect(try await fixture.transaction("s").request.templates.map(\.id.rawValue) == ["notes", "mine"])
        _ = try await sessions.end(key)
        try await sessions.patch(key, TransactionPatch(), templates: [.init("soap")])
        #expect(try await fixture.documents("s") == documents)
        #expect(try await fixture.transaction("s").request.templates.map(\.id.rawValue) == ["notes", "mine"])
    }

    @Test("each process call adds a document to an ended protocol session")
    func process() async throws {
        try await create(templates: ["soap"])
        let early = ScribeError.invalidState("The transaction was not committed yet")
        await #expect(throws: early) { try await sessions.process(key, nil) }
        _ = try await sessions.end(key)
        let first = try #require(try await sessions.process(key, nil))
        let second = try #require(try await sessions.process(key, TemplateID("soap")))
        #expect(first.template == second.template && first.document != second.document)
        #expect(try await fixture.documents("s").map(\.id)[2...] == [first.document, second.document])
    }

    @Test("a process call is refused for a protocol session without templates")
    func nothingToProcess() async throws {
        try await create(templates: [])
        _ = try await sessions.end(key)
        #expect(try await sessions.process(key, nil) == nil)
    }

    @Test("a poll waits for the chosen documents of an ended protocol session only")
    func poll() async throws {
        try await create()
        try await withinTheTimeOfATest {
            #expect(try await find(atMost: .seconds(14)).documents.count == 2, "nothing ends an open one")
            _ = try await sessions.end(key)
            let polling = Task {
                try await sessions.find(key, atMost: .seconds(14), until: OneShotSignal()) {
                    $0.filter { $0.kind == .transcript }
                }
            }
            try await fixture.manual.waitFor(.heldPoll)
            let transcript = try #require(try await fixture.store.transactions.results(of: key)?.documents.first)
            try await fixture.store.documents.edit(
                key, [ResultEdit(target: .document(transcript.id), value: "said")], at: fixture.manual.now)
            let found = try await polling.value
            #expect(found.transcript == "said")
            #expect(found.documents.map(\.status) == [.success])
        }
        #expect(try await fixture.documents("s").map(\.status) == [.success, .inProgress])
    }
}
