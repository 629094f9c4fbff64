import Basics
import Foundation

@testable import Engines

/// Service within the process with OpenAI's `POST /v1/chat/completions`, which answers as a test tells it.
final class ChatAPI: Sendable {
    /// Request for an answer.
    struct Request: Sendable {
        let body: JSONValue

        /// Type of `response_format`; nil for a text.
        var format: String? { body["response_format"]?["type"]?.stringValue }
        var messages: [String] { body["messages"]?.arrayValue?.compactMap { $0["content"]?.stringValue } ?? [] }
        /// Template and transcript.
        var data: JSONValue { messages.count > 1 ? JSONDocument.written(messages[1]) ?? .null : .null }
        var transcript: String { data["transcript"]?.stringValue ?? "" }
        /// Names of the sections.
        var sections: [String] {
            data["template"]?["sections"]?.arrayValue?.compactMap { $0["property"]?.stringValue } ?? []
        }
    }

    let http: HTTPService
    private let asked: LockedValue<[Request]>

    var requests: [Request] { asked.withLock { $0 } }

    /// Starts a service.
    /// - Parameter answer: called for each request with its number, from 0.
    init(_ answer: @escaping @Sendable (Request, Int) -> HTTPService.Answer) async throws {
        let asked = LockedValue<[Request]>([])
        self.asked = asked
        http = try await HTTPService { request in
            guard request.path == "/v1/chat/completions" else { return .text("{}", status: 404) }
            let read = Request(body: JSONDocument.written(String(decoding: request.body, as: UTF8.self)) ?? .null)
            let number = asked.withLock { asked in
                asked.append(read)
                return asked.count - 1
            }
            return answer(read, number)
        }
    }

    /// Answer with a message of the model.
    static func message(_ content: String, end: String = "stop") -> HTTPService.Answer {
        let answer: JSON = [
            "object": "chat.completion",
            "choices": [
                [
                    "index": 0, "message": ["role": "assistant", "content": .string(content), "refusal": .null],
                    "finish_reason": .string(end),
                ]
            ],
        ]
        return .text(String(decoding: answer.bytes, as: UTF8.self))
    }

    /// Answer with the statements of some sections; the others are null.
    static func note(_ request: Request, _ statements: [String: [String]]) -> HTTPService.Answer {
        let members = request.sections.map { name in
            (name, statements[name].map { JSON.array($0) { .string($0) } } ?? .null)
        }
        return message(String(decoding: JSON.object(members).bytes, as: UTF8.self))
    }

    static func error(_ status: Int, _ message: String, code: String? = nil) -> HTTPService.Answer {
        let error: JSON = ["error": ["message": .string(message), "code": code.map(JSON.string)]]
        return .text(String(decoding: error.bytes, as: UTF8.self), status: status)
    }
}
