import Foundation
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

/// The timeline of one recording.
struct RecordingTimelineTests {
    private let fixture: UseCaseFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try UseCaseFixture() }

    private func timeline(of key: Transaction.Key? = nil) async throws -> RecordingTimeline {
        try #require(try await store.timeline(of: key ?? fixture.key()))
    }

    /// An event in words.
    private func words(_ event: RecordingTimeline.Event) -> String {
        switch event.content {
        case .created: "created"
        case .uploaded(let file): "uploaded \(file.name)"
        case .stopped: "stopped"
        case .committed: "committed"
        case .recognised(file: let file, _): "recognised \(file)"
        case .document(let document): "\(document.document.templateID) \(document.document.status.rawValue)"
        case .published(let document): "published \(document.document.templateID)"
        case .processed(let status): "processed \(status.rawValue)"
        case .cancelled: "cancelled"
        case .delivery(let delivery): delivery.event
        case .archived: "archived"
        }
    }

    private func pass() { fixture.manual.advance(by: .seconds(1)) }

    private func register(_ principal: Principal) async throws {
        _ = try await fixture.webhooks.register(
            WebhookDraft(style: .usual, endpoint: .inbox, signingKey: nil), for: principal,
            called: (endpoint: "endpoint", events: "events", key: "key"))
    }

    @Test("a recording's timeline lists its events in the order of their times")
    func events() async throws {
        let start = fixture.manual.now
        try await fixture.start(templates: ["soap"])
        for name in ["2.wav", "1.wav"] {
            pass()
            try await fixture.upload(name)
        }
        pass()
        try await fixture.transactions.stop(fixture.key(), ChunkList(files: ["1.wav", "2.wav"]))
        pass()
        try await fixture.transactions.commit(fixture.key(), ChunkList(files: ["1.wav", "2.wav"]))
        pass()
        try await fixture.finish(fixture.key())
        pass()
        try await fixture.transactions.archive(fixture.key(), by: fixture.owner.user)
        let timeline = try await timeline()
        #expect(
            timeline.events.map(words) == [
                "created", "uploaded 2.wav", "uploaded 1.wav", "stopped", "committed", "transcript success",
                "soap success", "processed success", "archived",
            ])
        #expect(
            timeline.events.map { $0.time?.timeIntervalSince(start) } == [0, 1, 2, nil, 4, 5, 5, 5, 6])
        #expect(timeline.kind == .transaction)
        #expect(timeline.files.map(\.name) == ["1.wav", "2.wav"])
        #expect(timeline.files.allSatisfy { $0.size > 0 })
        let recording = try #require(try await store.transactions.recording(fixture.key()))
        #expect(recording.documents.allSatisfy { $0.document.value == nil })
    }

    @Test("the timeline of a new recording lists its results as in progress")
    func begun() async throws {
        try await fixture.start(templates: ["soap"])
        #expect(try await timeline().events.map(words) == ["created", "transcript in-progress", "soap in-progress"])
    }

    @Test("the timeline of a cancelled recording ends with the cancellation")
    func cancelled() async throws {
        try await fixture.start()
        pass()
        try await fixture.transactions.stop(fixture.key(), ChunkList(files: []))
        pass()
        var patch = TransactionPatch()
        patch.isCancellation = true
        _ = try await fixture.transactions.patch(fixture.key(), patch)
        let events = try await timeline().events.map(words)
        #expect(events.first == "created" && events.last == "cancelled")
        #expect(!events.contains { $0.hasPrefix("processed") })
    }

    @Test("the timeline shows a chunk's recognition until other bytes replace the chunk")
    func recognition() async throws {
        try await fixture.start()
        let object = fixture.object(fixture.location().key(ofFile: "1.wav"), ("first", 1))
        _ = try await fixture.store.audio.put(
            object, heard: RecognisedSpeech(text: "hello", duration: 2.5), in: fixture.key(), replacing: { _ in })
        let heard = try await timeline()
        #expect(heard.files.map(\.recognition?.duration) == [2.5])
        #expect(heard.events.map(words).contains("recognised 1.wav"))
        let other = fixture.object(fixture.location().key(ofFile: "1.wav"), ("second", 1), eTag: "b")
        _ = try await fixture.store.audio.put(other, business: fixture.owner.business)
        let replaced = try await timeline()
        #expect(replaced.files.map(\.recognition) == [nil])
        #expect(!replaced.events.map(words).contains("recognised 1.wav"))
    }

    @Test("the timeline lists deliveries of its own business only, also with equal transaction ids")
    func deliveries() async throws {
        for principal in [fixture.owner, fixture.stranger] {
            try await register(principal)
            try await fixture.start(for: principal)
        }
        pass()
        try await fixture.transactions.commit(fixture.key(), ChunkList(files: []))
        let (own, others) = (try await timeline(), try await timeline(of: fixture.key(of: fixture.stranger)))
        #expect(own.deliveries.map(\.event) == ["session.ended", "session.started"])
        #expect(others.deliveries.map(\.event) == ["session.started"])
        #expect(own.deliveries.allSatisfy { $0.business == fixture.owner.business })
        let events = own.events.map(words)
        #expect(events.first == "created" && events.last == "session.ended")
    }

    @Test("the timeline of another business's recording is not found")
    func tenants() async throws {
        try await fixture.start()
        #expect(try await store.timeline(of: fixture.key(of: fixture.stranger))?.kind == nil)
        #expect(try await store.timeline(of: fixture.key("unknown"))?.kind == nil)
    }

    @Test("the timeline of a protocol session lists the files of its own folder")
    func files() async throws {
        try await fixture.startSession("s")
        for id in ["s", "s0"] {
            try await fixture.upload(
                "audio_1.wav", to: AudioLocation(bucket: "bucket", folder: "sessions/\(id)"))
        }
        let timeline = try await timeline(of: fixture.key("s"))
        #expect(timeline.kind == .session)
        #expect(timeline.files.map(\.name) == ["audio_1.wav"])
    }
}

extension RecordingTimeline {
    /// The deliveries, newest first.
    fileprivate var deliveries: [DeliveryRecord] {
        events.reversed().compactMap { if case .delivery(let record) = $0.content { record } else { nil } }
    }
}
