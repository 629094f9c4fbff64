import Foundation
import HTTPTypes
import Journal
import NIOCore
import ScribeDomain
import ScribeHTTP
import TestSupport
import Testing

@testable import Lint

/// Exchanges of a journal that a test writes, with its own times.
struct WrittenJournal {
    let clock = ManualClock()
    let journal: Journal

    init() { journal = Journal(JournalSettings(mode: .full), in: JournalBudget(limit: 1 << 30), clock: clock.clock) }

    func record(_ kind: Exchange.Kind, _ request: HTTPRequest) -> JournalRecord {
        let settings = RecordSettings(mode: .full, clock: clock.clock)
        let record = JournalRecord(kind, .fields(request), at: clock.now, settings)
        record.put(in: journal)
        record.enter()
        return record
    }

    var exchanges: [LintedExchange] { journal.entries.map { LintedExchange(JournalIndex.documented.shown($0)) } }
}

@Suite("Lint's rules about live recognition")
struct SocketRulesTests {
    static let seeded = [
        SocketRules.idle, SocketRules.late, SocketRules.empty, SocketRules.frame, SocketRules.pace, SocketRules.rate,
        SocketRules.model, SocketRules.page,
    ]

    private enum Message {
        case audio(milliseconds: Int)
        case text(String)
        case server(String)
        case pause(Double)
    }

    /// The rules that a socket with these messages breaks.
    /// - Parameter isMeasured: Whether a real recogniser listens, which may hold messages back.
    private func found(
        _ messages: [Message], _ query: String = "encoding=linear16&sample_rate=16000", isMeasured: Bool = false
    ) -> [String] {
        let written = WrittenJournal()
        let record = written.record(
            .socket,
            HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/v1/listen?\(query)"))
        record.update {
            $0.note(AnswerHead(.switchingProtocols, [:], endpoint: "/v1/listen", requestID: "r"))
        }
        for message in messages {
            switch message {
            case .audio(let milliseconds):
                record.add(
                    .message(ByteBuffer(repeating: 1, count: milliseconds * 32), isText: false, .full), from: .client)
                written.clock.advance(by: .milliseconds(milliseconds))
            case .text(let text): record.add(.message(ByteBuffer(string: text), isText: true, .full), from: .client)
            case .server(let text): record.add(.message(ByteBuffer(string: text), isText: true, .full), from: .server)
            case .pause(let seconds): written.clock.advance(by: .seconds(seconds))
            }
        }
        record.end(.whole)
        return SocketRules.found(in: written.exchanges, isMeasured: isMeasured).map(\.rule.id)
    }

    private static let close = Message.text(#"{"type":"CloseStream"}"#)
    private static let keep = Message.text(#"{"type":"KeepAlive"}"#)
    private static let live = Array(repeating: Message.audio(milliseconds: 100), count: 100)

    private static func results(wordLength: Double) -> Message {
        let words = (0..<12).map { #"{"word":"a","start":\#(Double($0)),"end":\#(Double($0) + wordLength)}"# }
        return .server(
            #"{"type":"Results","is_final":true,"channel":{"alternatives":[{"words":[\#(words.joined(separator: ","))]}]}}"#
        )
    }

    @Test("a stream as a microphone makes it has no finding")
    func clean() {
        #expect(
            found(Self.live + [.pause(3), Self.keep, .pause(3), Self.keep, Self.results(wordLength: 0.3), Self.close])
                == [])
    }

    @Test("a socket with neither audio nor text for more than five seconds is told, whenever that is")
    func idle() {
        #expect(found([.pause(6), Self.close]) == ["socket-idle"])
        #expect(found(Self.live + [.pause(6), Self.keep, Self.close]) == ["socket-idle"])
        #expect(found(Self.live + [.pause(12)]) == ["socket-idle"])
        #expect(found(Self.live + [Self.close, .pause(12)]) == [])
        #expect(found(Self.live + [.pause(6), Self.close], isMeasured: true) == [])
    }

    @Test("audio after CloseStream and empty messages are told")
    func ends() {
        #expect(found(Self.live + [Self.close, .audio(milliseconds: 100)]) == ["audio-after-close"])
        #expect(found(Self.live + [.audio(milliseconds: 0)]) == ["empty-frame"])
    }

    @Test("messages of more than a second or less than ten milliseconds are told, the last one aside")
    func sizes() {
        #expect(found(Array(repeating: .audio(milliseconds: 1500), count: 3) + [Self.close]) == ["frame-size"])
        #expect(found(Array(repeating: .audio(milliseconds: 5), count: 30) + [Self.close]) == ["frame-size"])
        #expect(
            found([.audio(milliseconds: 100), .audio(milliseconds: 100), .audio(milliseconds: 2), Self.close]) == [])
        #expect(found(Array(repeating: .audio(milliseconds: 1500), count: 3) + [Self.close], "encoding=opus") == [])
    }

    @Test("a rate at the edge of numbers is no trap", arguments: ["1e-300", "1e300", "nan", "-1", "0", "inf"])
    func edges(rate: String) {
        _ = found(Self.live + [Self.close], "encoding=linear16&sample_rate=\(rate)&channels=\(rate)")
    }

    @Test("audio that comes much slower or faster than it was spoken is told")
    func pace() {
        let slow = (0..<60).flatMap { _ in [Message.audio(milliseconds: 100), .pause(0.4)] }
        #expect(found(slow + [Self.close]) == ["stream-pace"])
        // 8 kHz of samples that are told as 2 kHz last four times as long.
        #expect(found(Self.live + [Self.close], "encoding=linear16&sample_rate=2000") == ["stream-pace"])
    }

    @Test("words that are too quick or too slow for speech are told, and a few words are not judged")
    func rate() {
        #expect(found(Self.live + [Self.results(wordLength: 0.08), Self.close], isMeasured: true) == ["sample-rate"])
        #expect(found(Self.live + [Self.results(wordLength: 1.2), Self.close], isMeasured: true) == ["sample-rate"])
    }

    @Test("a model without the language, and a recording that a page sends, are told")
    func queries() {
        let written = WrittenJournal()
        let paired = written.record(
            .request,
            HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/v1/listen?model=nova-3-medical&language=fi")
        )
        paired.update { exchange in
            exchange.ignored = [Remark("language", "is not among the languages of nova-3-medical")]
            return exchange.answer(.ok)
        }
        paired.end(.whole)
        var head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/v1/listen")
        head.headerFields[.origin] = "https://page.example"
        written.record(.request, head).end(.whole)
        #expect(
            SocketRules.found(in: written.exchanges, isMeasured: true).map(\.rule.id)
                == ["model-language", "rest-from-page"])
    }
}
