import Basics
import Foundation
import HTTPTypes
import NIOCore
import ScribeDomain
import TestSupport
import Testing

@testable import Journal

/// Ended requests in a journal, whose parts stand in one piece of memory.
struct PackedExchangeTests {
    private let manual = ManualClock()

    private func journal(entries: Int = 10_000) -> Journal {
        var settings = JournalSettings(mode: .full)
        settings.entries = entries
        return Journal(settings, in: JournalBudget(limit: 1 << 30), clock: manual.clock)
    }

    private func record(_ head: RecordedHead, _ kind: Exchange.Kind = .request) -> JournalRecord {
        JournalRecord(
            kind, head, at: manual.clock.now, RecordSettings(mode: .full, clock: manual.clock), prefix: "/ns/one",
            requestID: "r-1")
    }

    private func isPacked(_ journal: Journal, _ number: Int = 1) -> Bool {
        if case .packed? = journal[number]?.content { true } else { false }
    }

    private let whole = RecordedHead.bytes(SentHead(Array("GET /é HTTP/1.1\r\nhost: a\r\n\r\n".utf8), isSecure: true))

    @Test("an ended request with all that a journal knows of it reads as it did before it ended")
    func everything() throws {
        let journal = journal()
        var head = HTTPRequest(method: .put, scheme: "https", authority: "a:1", path: "/ns/one/b?c=é")
        head.headerFields = [.contentType: "text/plain", .init("X-Name") ?? .accept: "", .cookie: "a", .cookie: "b"]
        let record = record(.fields(head))
        record.put(in: journal, family: "eka", operation: "init")
        record.note(Principal(businessID: "b-1", userID: "u-1", doctorID: "", clientID: "c-1"))
        record.note([Remark("a.b", "is missing"), Remark("", "is odd")], in: \.ignored)
        record.note([Remark("c", "is wrong")], in: \.findings)
        record.note(fault: "rule")
        record.note(reason: "no such thing")
        record.update { exchange in
            var body = RecordedBody(type: "text/plain")
            _ = body.add(ByteBuffer(string: "words"))
            exchange.requestBody = body
            exchange.transaction = TransactionID("t-1")
            return 100
        }
        record.note(objectWith: [1, 255])
        record.noteWholeBody()
        record.note(answer: RecordedBody(text: ByteBuffer(string: "{}")))
        #expect(!isPacked(journal))
        let answer = AnswerHead(
            .init(code: 299, reasonPhrase: "Odd"), [.eTag: "\"é\""], endpoint: "/b", requestID: "r-2")
        manual.advance(by: .milliseconds(1250))
        #expect(record.end(answer, bodyLength: 2, at: manual.clock.now))
        #expect(isPacked(journal))
        let (before, after) = (record.exchange, try #require(journal[1]?.exchange))
        #expect(after.startedAt == before.startedAt)
        #expect(after.endedAt == before.endedAt)
        #expect(after.end == .whole)
        #expect(after.request == head)
        #expect(after.line == before.line)
        #expect(after.requestBody?.text == ByteBuffer(string: "words"))
        #expect(after.requestBody?.md5 == "01ff")
        #expect(after.requestBody?.isWhole == true)
        #expect(after.requestBody?.isTruncated == false)
        #expect(after.response == before.response)
        #expect(after.response?.status.reasonPhrase == "Odd")
        #expect(after.responseBody?.text == ByteBuffer(string: "{}"))
        #expect(after.responseBody?.isWhole == false)
        #expect([after.prefix, after.requestID] == ["/ns/one", "r-2"])
        #expect(after.route == "/b")
        #expect(
            [after.family, after.operation, after.reason, after.fault] == ["eka", "init", "no such thing", "rule"])
        #expect(after.transaction == TransactionID("t-1"))
        #expect(after.principal == before.principal)
        #expect(after.ignored == before.ignored)
        #expect(after.findings == before.findings)
    }

    @Test("a request of which little is known is packed too", arguments: [true, false])
    func little(isWhole: Bool) throws {
        let journal = journal()
        let record = record(
            isWhole ? whole : .fields(HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)))
        record.put(in: journal)
        record.end(.cut)
        #expect(isPacked(journal))
        let exchange = try #require(journal[1]?.exchange)
        #expect(exchange.request == record.exchange.request)
        #expect(exchange.end == .cut)
        #expect(exchange.response == nil && exchange.requestBody == nil && exchange.responseBody == nil)
        #expect(exchange.principal == nil && exchange.transaction == nil && exchange.family == nil)
    }

    @Test("a body that is cut, or of which the size alone is known, stays so")
    func bodies() throws {
        let journal = journal()
        let record = record(whole)
        record.put(in: journal)
        record.update { exchange in
            var body = RecordedBody(type: "text/plain")
            defer { exchange.requestBody = body }
            return body.add(ByteBuffer(repeating: 0x61, count: 100_000))
        }
        record.note(answer: RecordedBody(size: 7))
        record.end(.whole)
        #expect(isPacked(journal))
        let exchange = try #require(journal[1]?.exchange)
        #expect(exchange.requestBody?.size == 100_000)
        #expect(exchange.requestBody?.text?.readableBytes == JournalSettings.bodyLimit)
        #expect(exchange.requestBody?.isTruncated == true)
        #expect(exchange.responseBody?.size == 7)
        #expect(exchange.responseBody?.text == nil)
    }

    @Test("sockets, and data whose hash is open, stay records")
    func records() {
        let journal = journal()
        let socket = record(whole, .socket)
        socket.put(in: journal)
        socket.end(.whole)
        let hashed = record(whole)
        hashed.put(in: journal)
        var audio = RecordedBody(type: "audio/wav")
        _ = audio.add(ByteBuffer(string: "abc"))
        hashed.note(answer: audio)
        hashed.end(.whole)
        #expect(!isPacked(journal, 1) && !isPacked(journal, 2))
        #expect(journal[2]?.exchange.responseBody?.sha256?.hasPrefix("ba7816bf") == true)
    }

    @Test("exchanges that end in another order than they began are read whole until they are dropped")
    func order() {
        let journal = journal(entries: 500)
        for round in 0..<40 {
            let records = (0..<50).map { number in
                let path = "/\(round)-\(number)"
                let record = record(.fields(HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)))
                record.put(in: journal)
                record.note(answer: RecordedBody(text: ByteBuffer(string: String(repeating: path, count: 200))))
                return record
            }
            for record in records.reversed() { record.end(.whole) }
        }
        let paths = (30..<40).flatMap { round in (0..<50).map { "/\(round)-\($0)" } }
        let kept = journal.entries.map(\.entry.exchange)
        #expect(kept.map(\.request.path) == paths)
        #expect(
            kept.map { $0.responseBody?.text.map { String(buffer: $0) } }
                == paths.map { String(repeating: $0, count: 200) })
        #expect(journal.counts.lastDropped?.number == 1500)
    }

    @Test("the end of a block that an exchange does not fit into counts for that exchange")
    func ends() {
        let journal = journal()
        for _ in 0..<4 {
            let record = record(whole)
            record.put(in: journal)
            record.note(answer: RecordedBody(text: ByteBuffer(repeating: 0x61, count: 33_000)))
            record.end(.whole)
        }
        #expect(isPacked(journal))
        #expect((3 * 65_536..<3 * 65_536 + 40_000).contains(journal.counts.bytes), "\(journal.counts.bytes)")
    }

    @Test("a reader keeps what it has read, and the journal what comes after")
    func readers() {
        let journal = journal()
        var read: [[Journal.Numbered]] = []
        for number in 0..<50 {
            let record = record(.fields(HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/\(number)")))
            record.put(in: journal)
            record.note(answer: RecordedBody(text: ByteBuffer(repeating: UInt8(number), count: 5000)))
            record.end(.whole)
            read.append(journal.entries)
        }
        for (number, entries) in read.enumerated() {
            let exchanges = entries.map(\.entry.exchange)
            #expect(exchanges.map(\.request.path) == (0...number).map { "/\($0)" })
            #expect(
                exchanges.map(\.responseBody?.text)
                    == (0...number).map { ByteBuffer(repeating: UInt8($0), count: 5000) })
        }
    }
}
