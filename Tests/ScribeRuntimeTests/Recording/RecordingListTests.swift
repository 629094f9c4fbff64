import Basics
import Foundation
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

/// The list of recordings of all families and businesses.
struct RecordingListTests {
    private let fixture: UseCaseFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try UseCaseFixture() }

    private func list(_ change: (inout RecordingFilter) -> Void = { _ in }) async throws -> RecordingPage {
        var filter = RecordingFilter()
        change(&filter)
        return try await store.transactions.recordings(filter)
    }

    private func ids(_ change: (inout RecordingFilter) -> Void = { _ in }) async throws -> [String] {
        try await list(change).items.map(\.id.rawValue)
    }

    private func find(_ text: String) async throws -> [String] { try await ids { $0.text = text } }

    /// Starts a consultation with `patient_details`.
    private func start(_ id: String, patient: JSONValue) async throws {
        var request = fixture.request(id)
        request.patientDetails = patient
        _ = try await fixture.transactions.start(.init(id), request, for: fixture.owner)
    }

    private func start(_ id: String, named name: String) async throws {
        try await start(id, patient: .object(["username": .string(name)]))
    }

    private func cancel(_ id: String) async throws {
        var patch = TransactionPatch()
        patch.isCancellation = true
        _ = try await fixture.transactions.patch(fixture.key(id), patch)
    }

    private func finish(_ id: String, _ outcome: Transaction.ProcessingStatus = .success) async throws {
        try await fixture.transactions.commit(fixture.key(id), ChunkList(files: []))
        try await fixture.finish(fixture.key(id), outcome)
    }

    // MARK: Families and tenants

    @Test("the list of recordings shows all kinds, newest first, each with its kind")
    func families() async throws {
        try await fixture.start("usual")
        try await fixture.startSession("session")
        _ = try await fixture.conversations.open(
            .init(source: "device", language: "en", timeout: 120, id: "device"), for: fixture.owner)
        let found = try await list().items
        #expect(found.map(\.id.rawValue) == ["device", "session", "usual"])
        #expect(found.map(\.kind) == [.conversation, .session, .transaction])
        #expect(found.map(\.flavour) == ["device", "", ""])
        for recording in found {
            #expect(try await ids { $0.kind = recording.kind } == [recording.id.rawValue])
        }
    }

    @Test("a recording's kind does not depend on its URL, mode or flavour")
    func kindOfPlace() async throws {
        let request = TransactionRequest(
            transfer: .vaded, mode: "conversation", audioURL: "s3://bucket/conversations/t", flavour: "omi")
        _ = try await fixture.transactions.start(.init("t"), request, for: fixture.owner)
        #expect(try await list().items.map(\.kind) == [.transaction])
    }

    @Test("a filter by business finds that business's recordings only, also with equal transaction ids")
    func tenants() async throws {
        for principal in [fixture.owner, fixture.stranger] { try await fixture.start(for: principal) }
        #expect(try await ids() == ["t", "t"])
        for principal in [fixture.owner, fixture.stranger] {
            let found = try await list { $0.business = principal.business }.items
            #expect(found.map(\.owner) == [principal])
        }
        #expect(try await ids { $0.business = BusinessID("b-3") }.isEmpty)
    }

    @Test("a filter by client finds that client's recordings")
    func client() async throws {
        try await fixture.start("mine")
        try await fixture.start("other", for: fixture.stranger)
        #expect(try await ids { $0.client = fixture.stranger.client } == ["other"])
    }

    @Test("recordings are found by their user status and their processing status")
    func states() async throws {
        for id in ["open", "stopped", "done", "failed", "cancelled"] { try await fixture.start(id) }
        try await fixture.transactions.stop(fixture.key("stopped"), ChunkList(files: []))
        try await finish("done")
        try await finish("failed", .requestFailure)
        try await cancel("cancelled")
        #expect(try await ids { $0.processingStatuses = [.inProgress] } == ["stopped", "open"])
        #expect(try await ids { $0.processingStatuses = [.success] } == ["done"])
        #expect(try await ids { $0.processingStatuses = [.requestFailure] } == ["failed"])
        #expect(try await ids { $0.processingStatuses = [.cancelled] } == ["cancelled"])
        #expect(try await ids { $0.userStatus = .committed } == ["failed", "done"])
        #expect(try await ids { $0.userStatus = .stopped } == ["stopped"])
    }

    @Test("a deleted recording is listed only on request")
    func archived() async throws {
        for id in ["kept", "deleted"] { try await fixture.start(id) }
        try await fixture.transactions.archive(fixture.key("deleted"), by: fixture.owner.user)
        #expect(try await ids() == ["kept"])
        let all = try await list { $0.includesArchived = true }.items
        #expect(all.map(\.id.rawValue) == ["deleted", "kept"])
        #expect(all.map { $0.archivedAt != nil } == [true, false])
    }

    // MARK: Search

    @Test("a search finds a text in ids and patients' names, whatever its case")
    func search() async throws {
        try await start("Visit-1", patient: .object(["username": .string("Asha Rao")]))
        try await start("other", patient: .object(["name": .string("Asha Devi"), "age": .integer(30)]))
        #expect(try await find("visit-1") == ["Visit-1"])
        #expect(try await find("ASHA") == ["other", "Visit-1"])
        #expect(try await find("a dev") == ["other"])
        #expect(try await list().items.map(\.patientName) == ["Asha Devi", "Asha Rao"])
    }

    @Test(
        "a search of recordings ignores fields other than ids and names",
        arguments: ["consultation", "bucket", "username", "30"])
    func otherWords(text: String) async throws {
        try await start("t", patient: .object(["username": .string("Asha"), "age": .integer(30)]))
        #expect(try await find(text).isEmpty)
    }

    @Test("an empty search text finds all recordings")
    func noText() async throws {
        try await fixture.start()
        #expect(try await find("") == ["t"])
    }

    @Test(
        "a search of recordings takes wildcards, quotes and control characters literally",
        arguments: [
            "%", "_", "'", "\"", "\\", "\0", "\0t", "%\u{301}", "\u{301}", "t' OR '1'='1", "t%", "_sha", "\\%", "\n",
            "\u{1F469}\u{200D}", String(repeating: "a", count: 10_000), String(repeating: "%", count: 1000),
            String(repeating: "\"", count: 1024), String(repeating: "\u{1F600}", count: 10_000),
        ])
    func hostileText(text: String) async throws {
        try await start("t", named: "Asha")
        #expect(try await find(text).isEmpty)
    }

    @Test(
        "a search finds a patient's name by any part, special characters included",
        arguments: [
            "100%", "_b\\", "\\\"c\"", "'d'", "%_", "é", "आशा", "\u{301}", "\t", "</script>", "/", "\u{1F600}",
        ])
    func literalText(text: String) async throws {
        try await start("t", named: "100%_b\\\"c\"'d'%_ é आशा x\u{301} \t </script> \u{1F600}")
        try await start("other", named: "Bo")
        #expect(try await find(text) == ["t"])
    }

    @Test("a patient's name that is no text, or very long, is shown as far as possible")
    func oddNames() async throws {
        let names: [JSONValue] = [
            .integer(7), .number(1.5), .bool(true), .null, .array([.string("a")]), .object(["first": .string("a")]),
        ]
        for (number, name) in names.enumerated() {
            try await start("odd-\(number)", patient: .object(["username": name]))
        }
        try await start("long", named: String(repeating: "é", count: 10_000))
        let found = try await list().items
        #expect(found.count == names.count + 1)
        #expect(found.first?.patientName == String(repeating: "é", count: 200))
        #expect(found.last?.patientName == "7")
    }

    // MARK: Pages

    @Test("pages of recordings have neither gaps nor repeats while recordings are added")
    func pages() async throws {
        for number in 0..<10 { try await fixture.start("old-\(number)") }
        var seen: [String] = []
        var cursor: Int64?
        repeat {
            let page = try await list {
                $0.limit = 3
                $0.before = cursor
            }
            seen += page.items.map(\.id.rawValue)
            cursor = page.next
            try await fixture.start("new-\(seen.count)")
        } while cursor != nil
        #expect(seen == (0..<10).reversed().map { "old-\($0)" })
    }

    @Test("the page with the last recording has no next page")
    func lastPage() async throws {
        for number in 0..<4 { try await fixture.start("t-\(number)") }
        let first = try await list { $0.limit = 2 }
        let second = try await list {
            $0.limit = 2
            $0.before = first.next
        }
        #expect(first.next != nil && second.items.count == 2 && second.next == nil)
    }

    @Test("a page has fifty recordings, with filters too")
    func pageSize() async throws {
        for number in 0..<120 { try await fixture.start("\(number.isMultiple(of: 2) ? "even" : "odd")-\(number)") }
        let page = try await list { $0.text = "even" }
        #expect(page.items.count == 50)
        #expect(try await ids { ($0.text, $0.before) = ("even", page.next) }.count == 10)
    }

    // MARK: Rows

    @Test("a listed recording counts the audio files of its own folder and gives their duration")
    func audio() async throws {
        for id in ["t", "t0"] { try await fixture.start(id) }
        for name in ["1.wav", "2.wav", "som.json", "full_audio.wav_", "below/3.wav"] { try await fixture.upload(name) }
        try await fixture.upload("1.wav", to: fixture.location("t0"))
        let times = ["1.wav": ChunkTimes(start: 0, end: 10), "2.wav": ChunkTimes(start: 9.5, end: 19)]
        try await fixture.transactions.stop(fixture.key(), ChunkList(files: ["1.wav", "2.wav"], times: times))
        let found = try await list().items
        #expect(found.map(\.files) == [1, 2])
        #expect(found.map(\.duration) == [nil, 19])
    }

    @Test("a listed recording without times of its client lasts as long as the files that were recognised")
    func heard() async throws {
        try await fixture.start()
        for (name, duration) in [("1.wav", 2.5), ("2.wav", 4)] {
            let object = fixture.object(fixture.location().key(ofFile: name), (name, 1))
            _ = try await store.audio.put(
                object, heard: RecognisedSpeech(text: "hello", duration: duration), in: fixture.key(),
                replacing: { _ in })
        }
        #expect(try await list().items.map(\.duration) == [6.5])
    }

    @Test("a listed recording has the status of each result and the errors of the first failed one")
    func results() async throws {
        try await fixture.start("good", templates: ["soap", "notes"])
        try await fixture.start("bad", templates: ["soap"])
        try await fixture.start("open", templates: ["soap"])
        try await finish("good")
        try await finish("bad", .requestFailure)
        let found = try await list().items
        #expect(found.map(\.results.count) == [2, 2, 3])
        #expect(found.map(\.results.first) == [.inProgress, .failure, .success])
        #expect(found.map { $0.problems.map(\.code) } == [[], [.noAudio], []])
        #expect(found.map { $0.processedAt == nil } == [true, false, false])
    }
}
