import Basics
import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import Journal

/// Answers that many exchanges of a journal share.
struct RepeatedAnswerTests {
    private let manual = ManualClock()
    private let journal: Journal

    init() {
        journal = Journal(JournalSettings(mode: .full), in: JournalBudget(limit: 1 << 30), clock: manual.clock)
    }

    private func record() -> JournalRecord {
        let head = SentHead(Array("GET /a HTTP/1.1\r\nhost: a\r\n\r\n".utf8), isSecure: false)
        return JournalRecord(
            .request, .bytes(head), at: manual.clock.now, RecordSettings(mode: .full, clock: manual.clock),
            requestID: "r-1")
    }

    @Test("a fault withdraws what the handler has told of its answer")
    func withdrawn() {
        let record = self.record()
        record.put(in: journal)
        record.note(repeated)
        #expect(record.exchange.responseBody?.size == 2)
        record.note(fault: "rule")
        #expect(record.exchange.responseBody == nil)
        #expect(!endsRepeated(record, added: ["x-id"]))
    }

    @Test("an exchange shows a repeated answer with the fields that other layers add, and its own id")
    func repeatedAnswer() {
        let record = self.record()
        record.note(repeated)
        #expect(record.exchange.response == nil, "it is not sent yet")
        #expect(!endsRepeated(record, added: ["x-id"]), "no journal")
        record.put(in: journal)
        #expect(!endsRepeated(record, added: ["x-id"], bodyLength: 3), "another body")
        #expect(!endsRepeated(record, added: []), "other fields")
        #expect(journal.entries.isEmpty)
        #expect(endsRepeated(record, added: ["x-id"]))
        let exchange = journal.entries.first?.entry.exchange
        let fields: HTTPFields = [.contentType: "application/json", .init("x-id") ?? .accept: "r-2"]
        #expect(exchange?.response == HTTPResponse(status: .ok, headerFields: fields))
        #expect(exchange?.responseBody?.text == ByteBuffer(string: "{}"))
        #expect(exchange?.route == "/a")
        #expect(exchange?.requestID == "r-2")
    }

    @Test("a repeated answer that is sent with other fields is kept with these, and its body counts")
    func repeatedWithOthers() {
        let record = self.record()
        record.put(in: journal)
        record.note(repeated)
        let head = AnswerHead(.ok, [.accept: "1", .age: "2", .allow: "3"], endpoint: "/a", requestID: "r-2")
        #expect(record.end(head, bodyLength: 2, at: manual.clock.now))
        let exchange = journal.entries.first?.entry.exchange
        #expect(exchange?.response?.headerFields == [.accept: "1", .age: "2", .allow: "3"])
        #expect(exchange?.responseBody?.size == 2)
        #expect(exchange?.requestID == "r-2")
    }

    private var repeated: RepeatedAnswer {
        RepeatedAnswer(
            .ok, [.contentType: "application/json"], added: [.init("x-id") ?? .accept: ""], ByteBuffer(string: "{}"))
    }

    private func endsRepeated(_ record: JournalRecord, added names: [String], bodyLength: Int = 2) -> Bool {
        var fields: HTTPFields = [.contentType: "application/json"]
        for name in names.compactMap({ HTTPField.Name($0) }) { fields[name] = "r-2" }
        return record.end(
            repeated: fields, bodyLength: bodyLength, endpoint: "/a", requestID: "r-2", at: manual.clock.now)
    }
}
