import Basics
import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import Journal

/// The exchanges of a world: bounded by entries and bytes, and by all worlds together.
struct JournalTests {
    private let manual = ManualClock()

    private func journal(entries: Int = 1000, bytes: Int = 1 << 20, in budget: JournalBudget? = nil) -> Journal {
        var settings = JournalSettings(mode: .full)
        (settings.entries, settings.bytes) = (entries, bytes)
        return Journal(settings, in: budget ?? JournalBudget(limit: 1 << 30), clock: manual.clock)
    }

    @discardableResult
    private func add(_ path: String, body: Int = 0, to journal: Journal?) -> JournalRecord {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
        let record = JournalRecord(
            .request, .fields(request), at: manual.clock.now,
            RecordSettings(mode: .full, clock: manual.clock))
        record.put(in: journal)
        if body > 0 {
            record.update { exchange in
                var kept = RecordedBody(type: "text/plain")
                let growth = kept.add(ByteBuffer(repeating: UInt8(ascii: "a"), count: body))
                exchange.requestBody = kept
                return growth
            }
        }
        return record
    }

    private func paths(_ journal: Journal) -> [String] {
        journal.entries.map { $0.entry.exchange.request.path ?? "" }
    }

    @Test("a full journal drops its oldest entries and counts them")
    func entries() {
        let journal = journal(entries: 3)
        for number in 1...5 { add("/\(number)", to: journal) }
        #expect(paths(journal) == ["/3", "/4", "/5"])
        #expect(journal.entries.map(\.number) == [3, 4, 5])
        #expect(journal.counts.dropped == 2)
        #expect(journal.counts.lastDropped == .init(number: 2, startedAt: manual.clock.now))
        #expect(journal[2] == nil)
        #expect(journal[4]?.exchange.request.path == "/4")
    }

    @Test("a journal tells the latest start of the entries that it dropped, in whatever order they entered")
    func lastDropped() throws {
        let journal = journal(entries: 1)
        let start = manual.clock.now
        for seconds in [1.0, 3, 2, 0] {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")
            let record = JournalRecord(
                .request, .fields(head), at: start.addingTimeInterval(seconds),
                RecordSettings(mode: .full, clock: manual.clock))
            record.put(in: journal)
        }
        #expect(journal.counts.lastDropped == .init(number: 3, startedAt: start.addingTimeInterval(3)))
        journal.removeAll()
        #expect(journal.counts.lastDropped == nil)
    }

    @Test("an open socket releases its frames when it leaves a full journal, and keeps no later ones")
    func framesOfOpenSockets() {
        let journal = journal(bytes: 100_000)
        func open() -> JournalRecord {
            let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/s")
            let record = JournalRecord(
                .socket, .fields(request), at: manual.clock.now, RecordSettings(mode: .full, clock: manual.clock))
            record.put(in: journal)
            record.enter()
            return record
        }
        func hear(_ record: JournalRecord) {
            let text = ByteBuffer(repeating: UInt8(ascii: "a"), count: 10_000)
            record.add(.message(text, isText: true, .full), from: .client)
        }
        let sockets = (0..<20).map { _ in open() }
        for socket in sockets { hear(socket) }
        for socket in sockets { hear(socket) }
        let kept = sockets.map { $0.exchange.frames.count }
        #expect(kept.first == 0 && kept.last == 2, "\(kept)")
        #expect(kept.reduce(0, +) * 10_000 <= 110_000)
        journal.removeAll()
        for socket in sockets { hear(socket) }
        #expect(sockets.allSatisfy { $0.exchange.frames.isEmpty })
    }

    @Test("what a record grows by while it enters its journal counts there, and is news if it ends meanwhile")
    func growthWhileEntering() async {
        let journal = journal(entries: 10_000, bytes: 1 << 30)
        let records = (0..<300).map { number in
            let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/\(number)")
            return JournalRecord(
                .socket, .fields(request), at: manual.clock.now, RecordSettings(mode: .full, clock: manual.clock))
        }
        for record in records {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { record.put(in: journal) }
                group.addTask {
                    for _ in 0..<20 { record.update { _ in 100 } }
                    record.end(.whole)
                }
            }
        }
        #expect(journal.counts.bytes == records.reduce(0) { $0 + $1.exchange.headSize + 2000 })
        #expect(journal.entries.allSatisfy { $0.entry.exchange.end == .whole })
    }

    @Test("the journal is limited in bytes too, and keeps a single entry of any size")
    func bytes() {
        let journal = journal(bytes: 150_000)
        for number in 1...9 { add("/\(number)", body: 60_000, to: journal) }
        #expect(journal.counts.bytes <= 150_000)
        #expect(paths(journal).last == "/9")
        #expect(journal.counts.entries >= 1)
        let small = self.journal(bytes: 1)
        add("/1", body: 60_000, to: small)
        #expect(paths(small) == ["/1"])
    }

    @Test("journals share a memory budget, and the largest journal drops entries first")
    func budget() {
        let budget = JournalBudget(limit: 1_000_000)
        let (large, small) = (journal(bytes: 900_000, in: budget), journal(in: budget))
        for number in 1...20 { add("/\(number)", body: 40_000, to: large) }
        for number in 1...6 { add("/\(number)", body: 40_000, to: small) }
        #expect(budget.bytes <= 1_000_000)
        #expect(small.counts.entries == 6)
        #expect(large.counts.dropped > 0)
        #expect(budget.bytes == large.counts.bytes + small.counts.bytes)
    }

    @Test("a journal releases its memory at its end, when it is emptied, and for an entry that moves")
    func release() {
        let budget = JournalBudget(limit: 1 << 30)
        do {
            let first = journal(in: budget)
            let second = journal(in: budget)
            let record = add("/1", body: 1000, to: first)
            let before = budget.bytes
            record.put(in: second)
            #expect(first.counts.bytes == 0)
            #expect(second.counts.entries == 1)
            #expect(budget.bytes <= before)
            record.put(in: nil)
            #expect(budget.bytes == 0)
            add("/2", to: first)
            first.removeAll()
            #expect(budget.bytes == 0)
            add("/3", to: second).end(.whole)
            #expect(budget.bytes > 0)
        }
        #expect(budget.bytes == 0)
    }

    @Test("an entry that has left the journal does not grow")
    func gone() {
        let journal = journal(entries: 1)
        let record = add("/1", to: journal)
        add("/2", to: journal)
        let before = journal.counts.bytes
        for _ in 1...3 { record.add(.message(ByteBuffer(string: "word"), isText: true, .full), from: .client) }
        record.end(.whole)
        #expect(journal.counts.bytes == before)
    }

    @Test("the journal limits the frames of a socket and counts those it leaves out")
    func frames() {
        let journal = journal(bytes: 64 << 20)
        let record = add("/1", to: journal)
        let words = ByteBuffer(repeating: UInt8(ascii: "a"), count: JournalSettings.bodyLimit)
        for _ in 1...100 { record.add(.message(words, isText: true, .full), from: .client) }
        let exchange = journal[1]?.exchange
        #expect(exchange.map { $0.frames.count + $0.framesLeftOut } == 100)
        #expect((exchange?.framesLeftOut ?? 0) > 0)
        #expect(journal.counts.bytes < JournalSettings.socketLimit + 10_000)
    }

    @Test("a reader that waits for the journal wakes at the end of an exchange, and reads each change once")
    func waiting() async {
        let journal = journal()
        let record = add("/1", to: journal)
        let first = journal.news(after: 0)
        #expect(first.entries.map(\.number) == [1])
        #expect(journal.news(after: first.change).entries.isEmpty)
        async let woken: Void = journal.wait(after: first.change)
        record.end(.whole)
        await woken
        let second = journal.news(after: first.change)
        #expect(second.entries.map(\.entry.exchange.end) == [.whole])
        let cancelled = Task { await journal.wait(after: second.change) }
        cancelled.cancel()
        await cancelled.value
    }

    @Test("the journal keeps a text body up to its limit, and any other body as its hash")
    func bodies() {
        var text = RecordedBody(type: "application/json")
        for _ in 1...3 { _ = text.add(ByteBuffer(repeating: UInt8(ascii: "1"), count: 30_000)) }
        #expect(text.size == 90_000)
        #expect(text.text?.readableBytes == JournalSettings.bodyLimit)
        #expect(text.isTruncated)
        var audio = RecordedBody(type: "audio/wav")
        _ = audio.add(ByteBuffer(string: "ab"))
        _ = audio.add(ByteBuffer(string: "c"))
        #expect(audio.text == nil)
        #expect(audio.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        var disguised = RecordedBody(type: "text/plain")
        _ = disguised.add(ByteBuffer(bytes: [82, 73, 70, 70, 0, 0, 1]))
        #expect(disguised.text == nil && disguised.sha256 != nil)
        var cut = RecordedBody(type: nil)
        _ = cut.add(ByteBuffer(string: String(repeating: "é", count: 300)))
        #expect(cut.text?.readableBytes == 600)
    }

    @Test("the journal hashes no upload: it shows the digest that the object's writer has made")
    func uploads() {
        var audio = RecordedBody(type: "audio/wav", isHashed: false)
        _ = audio.add(ByteBuffer(string: "abc"))
        var disguised = RecordedBody(type: "text/plain", isHashed: false)
        _ = disguised.add(ByteBuffer(bytes: [82, 73, 70, 70, 0, 0, 1]))
        #expect(audio.sha256 == nil && disguised.sha256 == nil)
        #expect(audio.size == 3 && disguised.size == 7)
        #expect(disguised.text == nil)
    }

    @Test("a journal entry copies its small part of a large buffer")
    func slices() {
        var large = ByteBuffer(repeating: UInt8(ascii: "a"), count: 1 << 20)
        var body = RecordedBody(type: "text/plain")
        _ = body.add(large.readSlice(length: 10) ?? ByteBuffer())
        #expect((body.text?.storageCapacity ?? .max) < 1000)
    }

    // MARK: A request that came whole

    private func whole(_ path: String = "/a") -> JournalRecord {
        JournalRecord(
            .request, .bytes(SentHead(Array("GET \(path) HTTP/1.1\r\nhost: a\r\n\r\n".utf8), isSecure: false)),
            at: manual.clock.now, RecordSettings(mode: .full, clock: manual.clock), requestID: "r-1")
    }

    @Test("a request that came whole enters its journal with its answer")
    func entersWithAnswer() async {
        let journal = journal()
        let record = whole()
        record.put(in: journal)
        #expect(journal.entries.isEmpty)
        async let news: Void = journal.wait(after: 0)
        record.end(.whole)
        await news
        #expect(paths(journal) == ["/a"])
        #expect(journal.news(after: 0).change == 1)
        record.end(.cut)
        #expect(journal.news(after: 1).entries.isEmpty)
    }

    @Test("a request that waits enters its journal before its answer, once")
    func entersBeforeAnswer() {
        let journal = journal()
        let record = whole()
        record.enter()
        record.put(in: journal)
        record.enter()
        record.enter()
        #expect(journal.entries.map { $0.entry.exchange.end } == [nil])
        record.end(.whole)
        #expect(journal.entries.map { $0.entry.exchange.end } == [.whole])
        #expect(journal.news(after: 0).change == 2)
    }

    @Test("a request that moves to another journal is in that one only", arguments: [false, true])
    func moves(enters: Bool) {
        let (first, second) = (journal(), journal())
        let record = whole()
        record.put(in: first)
        if enters { record.enter() }
        record.put(in: second)
        #expect(second.entries.count == (enters ? 1 : 0))
        record.end(.whole)
        #expect(first.entries.isEmpty)
        #expect(second.entries.count == 1)
        let hidden = whole()
        hidden.put(in: first)
        hidden.put(in: nil)
        hidden.enter()
        hidden.end(.whole)
        #expect(first.entries.isEmpty)
    }

    @Test("a whole answer ends an exchange once its journal and its body are known")
    func wholeAnswer() {
        let journal = journal()
        let record = whole()
        let head = AnswerHead(.ok, [.contentType: "text/plain"], endpoint: "/a/{b}", requestID: "r-1")
        #expect(!record.end(head, bodyLength: 2, at: manual.clock.now), "no journal")
        record.put(in: journal)
        #expect(!record.end(head, bodyLength: 2, at: manual.clock.now), "no body")
        #expect(!record.end(head, bodyLength: nil, at: manual.clock.now), "no length")
        record.note(answer: RecordedBody(text: ByteBuffer(string: "hi")))
        #expect(!record.end(head, bodyLength: 3, at: manual.clock.now), "another body")
        #expect(journal.entries.isEmpty)
        #expect(record.end(head, bodyLength: 2, at: manual.clock.now))
        let exchange = journal.entries.first?.entry.exchange
        #expect(exchange?.response == HTTPResponse(status: .ok, headerFields: [.contentType: "text/plain"]))
        #expect(exchange?.route == "/a/{b}")
        #expect(exchange?.requestID == "r-1")
        #expect(exchange?.end == .whole)
        #expect(record.end(head, bodyLength: 3, at: manual.clock.now), "it has ended")
        #expect(journal.news(after: 0).change == 1)
    }

    @Test("an answer that a fault sends piece by piece does not end its exchange")
    func pieces() {
        let record = whole()
        record.put(in: journal())
        record.stream()
        let head = AnswerHead(.ok, [:], endpoint: nil, requestID: "")
        #expect(!record.end(head, bodyLength: 0, at: manual.clock.now))
    }

    @Test("the memory of a noted body counts, before and after the request has entered", arguments: [false, true])
    func memory(enters: Bool) {
        let journal = journal()
        let record = whole()
        record.put(in: journal)
        if enters { record.enter() }
        record.note(answer: RecordedBody(text: ByteBuffer(repeating: 0x61, count: 50_000)))
        #expect(
            record.end(AnswerHead(.ok, [:], endpoint: nil, requestID: ""), bodyLength: 50_000, at: manual.clock.now))
        #expect((50_000..<70_000).contains(journal.counts.bytes))
    }
}
