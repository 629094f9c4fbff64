import Basics
import Foundation
import ScribeDomain
import Testing

@testable import Engines

struct ChatAnswerTests {
    private func message(_ members: String, end: String = "\"stop\"") throws -> ChatAnswer {
        try ChatAnswer(
            Data(#"{"choices": [{"message": {\#(members)}, "finish_reason": \#(end)}]}"#.utf8),
            contentType: "application/json")
    }

    private func answer(_ text: String) throws -> ChatAnswer {
        try message("\"content\": \(String(decoding: JSON.string(text).bytes, as: UTF8.self))")
    }

    private let object = JSONValue.object(["plan": .array([.string("a { brace")])])
    private static let json = #"{"plan": ["a { brace"]}"#

    @Test(
        "the object is found within fences, after reasoning and between sentences",
        arguments: [
            json, "```json\n\(json)\n```", "Here is the note:\n\(json)\nI hope this helps.",
            "<think>First I try {\"plan\": null} or {broken</think>\n\(json)", "{ is a brace. \(json)",
            "\u{FEFF}\(json)\n```",
        ])
    func objects(text: String) throws {
        #expect(try answer(text).objects == [object])
    }

    @Test(
        "a text without a whole object has none",
        arguments: ["", "No note.", "{\"plan\": [\"cut", "{{{{{{", "[1, 2]", "{plan: []}", "<think>a draft: \(json)"])
    func noObjects(text: String) throws {
        #expect(try answer(text).objects.isEmpty)
    }

    @Test("an object that is nested without end is none")
    func nested() throws {
        let depth = 100_000
        let deep = String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
        #expect(try answer(deep).objects.isEmpty)
    }

    @Test("content can be a list of parts, and can be absent")
    func content() throws {
        #expect(try message(#""content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]"#).text == "ab")
        #expect(try message(#""content": null, "reasoning_content": "x""#).text == "")
    }

    @Test("refusals and the limit of tokens are told apart from whole answers")
    func ends() throws {
        #expect(try message(#""content": "x", "refusal": null"#).end == .whole)
        #expect(try message(#""content": null, "refusal": "I cannot help""#).end == .refusal)
        #expect(try message(#""content": """#, end: "\"content_filter\"").end == .refusal)
        #expect(try message(#""content": "{""#, end: "\"length\"").end == .length)
        #expect(try message(#""content": "x""#, end: "null").end == .whole)
    }

    private func stream(_ events: [String]) throws -> ChatAnswer {
        try ChatAnswer(
            Data(events.map { "data: \($0)\r\n\r\n" }.joined().utf8), contentType: "text/event-stream; charset=utf-8")
    }

    private static let first =
        #"{"choices": [{"delta": {"role": "assistant", "content": "{\"a\""}, "finish_reason": null}]}"#
    private static let second = #"{"choices": [{"delta": {"content": ": 1}"}, "finish_reason": null}]}"#
    private static let last = #"{"choices": [{"delta": {}, "finish_reason": "stop"}]}"#
    private static let usage = #"{"choices": [], "usage": {"total_tokens": 3}}"#

    @Test("a stream that the service sends unasked is read whole")
    func events() throws {
        let answer = try stream([Self.first, Self.second, Self.last, Self.usage, "[DONE]"])
        #expect(answer.text == #"{"a": 1}"#)
        #expect(answer.end == .whole)
    }

    @Test(
        "a stream that was cut off is a failure that another attempt may avoid",
        arguments: [[first], [first, second], [first, #"{"choices": [{"delta""#], [], [first, "[DONE]"]])
    func cutOff(events: [String]) {
        #expect { try stream(events) } throws: { ($0 as? EngineFailure)?.isRetryable ?? false }
    }

    @Test(
        "an answer of another shape is a failure of the service",
        arguments: [
            "", "<html>", "[]", "{}", #"{"choices": []}"#, #"{"choices": [{"text": "x"}]}"#, #"{"choices": 3}"#,
        ])
    func shapes(body: String) {
        #expect { try ChatAnswer(Data(body.utf8), contentType: "application/json") } throws: {
            ($0 as? EngineFailure)?.code == .noteFailed
        }
    }
}
