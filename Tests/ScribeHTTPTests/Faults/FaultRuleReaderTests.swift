import Basics
import Foundation
import HTTPTypes
import ScribeDomain
import Testing

@testable import ScribeHTTP

@Suite("The reader of fault rules")
struct FaultRuleReaderTests {
    private let reader = FaultRuleReader(
        operations: OperationIndex([
            .init(id: "readStatus", method: .get, path: "/voice/status/{id}"),
            .init(id: "readHistory", method: .get, path: "/voice/status/history"),
            .init(id: "commit", method: .post, path: "/voice/commit/{id}"),
            .init(id: "openSocket", method: .get, path: "/listen", isSocket: true),
            .init(id: "hear", method: .post, path: "/listen"),
        ]), others: ["PutObject"], events: ["session.ended"])

    private func read(_ json: String) throws -> FaultRule {
        guard case .object(let members) = try JSONDocument(json.utf8).value else {
            throw ScribeError.invalidRequest(field: nil, problem: "")
        }
        return try reader.rule(of: members).rule
    }

    @Test(
        "a fault rule's JSON is read back as the same rule",
        arguments: [
            #"{"operation":"commit","nth":2,"when":"after","status":503,"code":"x","message":"y","retry_after":3}"#,
            #"{"method":"GET","path":"/voice/*","business":"b","client":"c","transaction":"t","every":3,"when":"before","status":200,"body":"[1]","content_type":"application/json"}"#,
            #"{"header":["User-Agent: *x*","Host: *"],"no_header":"X-A","query":["a=1","a=2"],"no_body":true,"status":500}"#
                .replacing(#","status""#, with: #","when":"before","status""#),
            #"{"header":"user-agent: *x*","probability":0.25,"times":4,"delay":"1s..3s","clock":"world","when":"before"}"#,
            #"{"operation":"PutObject","delay":"200ms~2s","when":"after","connection":"dribble","rate":7}"#,
            #"{"when":"before","limit":"5/60s","status":429}"#,
            #"{"after_sent":2,"after_received":0,"close":4001,"reason":"r","results":"doubled","messages":"*Results*"}"#,
            #"{"operation":"transcription","business":"b","delay":"20s","fail":"transcription_failed"}"#,
            #"{"operation":"note","empty":true}"#,
            #"{"operation":"webhook","event":"session.ended","out_of_order":true}"#,
            #"{"operation":"webhook","event":"callback","twice":true}"#,
            #"{"operation":"openSocket","when":"before","status":503}"#,
            #"{"operation":"openSocket","delay":"1s","when":"before"}"#,
            #"{"path":"/listen","when":"after","status":500}"#, #"{"path":"/listen","after_sent":1}"#,
        ])
    func members(json: String) throws {
        let written = try read(json).json
        #expect(String(decoding: written.bytes, as: UTF8.self) == json)
    }

    @Test("a fault rule may give numbers as texts, as on the command line")
    func texts() throws {
        #expect(
            try read(#"{"status":"503","times":"2","probability":"0.5"}"#)
                == read(#"{"status":503,"times":2,"probability":0.5}"#))
    }

    @Test(
        "a fault rule that fits no request, or has no effect or two, is refused with the nearest name",
        arguments: [
            ("{}", "no effect"), (#"{"statsu":1}"#, "nearest name is status"),
            (#"{"operation":"commits","status":500}"#, "no operation is called 'commits'; nearest: commit"),
            (#"{"operation":"commit","method":"GET","status":500}"#, "never fits"),
            (#"{"operation":"commit","path":"/voice/status/1","status":500}"#, "never fits"),
            (#"{"operation":"commit","path":"/voice/status/*","status":500}"#, "never fits"),
            (#"{"operation":"readStatus","path":"/voice/status/history","status":500}"#, "never fits"),
            (#"{"method":"past","status":500}"#, "nearest: POST"),
            (#"{"path":"voice","status":500}"#, "begin with"),
            (#"{"path":"/__admin/info","status":500}"#, "no path of an emulated API"),
            (#"{"nth":1,"every":2,"status":500}"#, "exclude"), (#"{"nth":1,"times":2,"status":500}"#, "be combined"),
            (#"{"nth":0,"status":500}"#, "whole number"), (#"{"probability":0,"status":500}"#, "above 0"),
            (#"{"probability":1.5,"status":500}"#, "above 0"), (#"{"times":1e30,"status":500}"#, "whole number"),
            (#"{"status":99}"#, "from 200"), (#"{"status":200}"#, "400 to 599"),
            (#"{"status":204,"body":"x"}"#, "no body"),
            (#"{"message":"x"}"#, "is missing"), (#"{"content_type":"a","status":500}"#, "belongs to"),
            (#"{"connection":"rest"}"#, "nearest: reset"),
            (#"{"connection":"half","when":"before"}"#, "must be after"),
            (#"{"connection":"reset","status":500}"#, "excludes"), (#"{"rate":3,"connection":"reset"}"#, "dribble"),
            (#"{"connection":"hang","delay":"1s"}"#, "cannot be combined"),
            (#"{"limit":"5","status":429}"#, "number of requests"),
            (#"{"limit":"5/1m","when":"after"}"#, "before"), (#"{"delay":"soon"}"#, "must be 2s"),
            (#"{"clock":"world","status":500}"#, "needs"), (#"{"clock":"moon","delay":"1s"}"#, "nearest"),
            (#"{"close":1005,"after_sent":1}"#, "may send"),
            (#"{"close":1011,"status":500,"after_sent":1}"#, "belongs to"),
            (#"{"reason":"x","after_sent":1}"#, "needs 'close'"),
            (#"{"messages":"*","after_sent":1}"#, "needs the results"), (#"{"results":"late"}"#, "needs 'delay'"),
            (#"{"operation":"transcription","status":500}"#, "belongs to"), (#"{"operation":"note"}"#, "no effect"),
            (#"{"operation":"note","fail":"x"}"#, "nearest"),
            (#"{"operation":"webhook","twice":true,"out_of_order":true}"#, "excludes"),
            (#"{"operation":"webhook","method":"GET","twice":true}"#, "never fits"),
            (#"{"operation":"webhook","event":"sessions.ended","twice":true}"#, "nearest: session.ended"),
            (#"{"operation":"webhook","event":"callback","wrong_signature":true}"#, "never fits"),
            (#"{"operation":"webhook","event":"callback","out_of_order":true}"#, "never fits"),
            (#"{"operation":"openSocket","connection":"half"}"#, "connection has no effect on a socket"),
            (#"{"operation":"openSocket","connection":"dribble","rate":3}"#, "connection has no effect on a socket"),
            (#"{"operation":"openSocket","when":"after","status":500}"#, "when has no effect on a socket"),
            (#"{"operation":"openSocket","when":"after","connection":"reset"}"#, "when has no effect on a socket"),
            (#"{"operation":"openSocket","when":"after","delay":"1s"}"#, "when has no effect on a socket"),
            (#"{"path":"/listen","method":"GET","connection":"half"}"#, "connection has no effect on a socket"),
            (#"{"operation":"commit","after_sent":1}"#, "after_sent never fits: commit opens no socket"),
            (#"{"path":"/listen","method":"POST","results":"doubled"}"#, "results never fits: hear opens no socket"),
            (#"{"event":"x","status":500}"#, "webhook only"),
            (#"{"twice":true}"#, "belongs to"), (#"{"header":":x","status":500}"#, "must be NAME"),
            (#"{"operation":7,"status":500}"#, "must be a text"), (#"{"status":null}"#, "whole number"),
        ])
    func refused(json: String, words: String) {
        #expect {
            try read(json)
        } throws: { error in
            guard case ScribeError.invalidRequest(let field, let problem) = error else { return false }
            return "\(field ?? "") \(problem)".contains(words)
        }
    }

    @Test(
        "an X-Scribe-Fault header that is no list of name=value pairs is refused",
        arguments: [
            "", "=", "==", " = ", "=x", "status=500;=", "status", "status=500; status=501",
            "operation=commit; status=500", "limit=1/1s",
        ])
    func header(text: String) {
        #expect(throws: ScribeError.self) { try reader.rule(ofHeader: text, named: "header") }
    }

    @Test(
        "an X-Scribe-Fault header that has no effect on a socket is refused there alone",
        arguments: ["connection=half", "connection=dribble", "status=500; when=after", "delay=1s; when=after"])
    func headerOfSocket(text: String) throws {
        _ = try reader.rule(ofHeader: text, named: "header")
        #expect(throws: ScribeError.self) { try reader.rule(ofHeader: text, named: "header", opensSocket: true) }
    }

    @Test("a fault rule's path belongs to the operation with the fewest parameters")
    func operations() throws {
        let index = OperationIndex([
            .init(id: "one", method: .get, path: "/a/{x}"), .init(id: "two", method: .get, path: "/a/b"),
        ])
        #expect(index.operation(of: .get, "/a/b") == "two")
        #expect(index.operation(of: .head, "/a/c/") == "one")
        #expect(index.operation(of: .post, "/a/b") == nil)
        #expect(index.operation(of: .get, "/a") == nil)
    }
}
