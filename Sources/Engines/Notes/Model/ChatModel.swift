import Basics
package import Foundation
import ScribeDomain

/// Language model behind OpenAI's `POST /chat/completions` or a compatible service: Ollama, vLLM, llama.cpp, a cloud.
package struct ChatModel: Sendable {
    /// Shape in which an answer is asked for, the strictest first.
    enum AnswerFormat: Int, CaseIterable, Comparable {
        /// `response_format: json_schema`, `strict`.
        case schema
        /// `response_format: json_object`; the schema stands in the messages.
        case object
        /// No `response_format`; the schema stands in the messages.
        case text

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    struct Message: Hashable {
        let role: String
        let content: String

        static func system(_ content: String) -> Message { Message(role: "system", content: content) }
        static func user(_ content: String) -> Message { Message(role: "user", content: content) }
        static func assistant(_ content: String) -> Message { Message(role: "assistant", content: content) }
    }

    /// Refusals of a service so far.
    private struct Known {
        var format = AnswerFormat.schema
        /// Time from which the strictest format is tried again: a refusal may have been about one template.
        var expiry = Date.distantPast
        var takesTemperature = true
    }

    /// Seconds for which a refused format is not tried again.
    private static let memory: TimeInterval = 600

    private let url: URL
    private let key: String?
    let model: String
    private let client: ServiceClient
    private let known = LockedValue(Known())

    /// Creates a model.
    /// - Parameters:
    ///   - baseURL: such as `http://127.0.0.1:11434/v1`.
    ///   - key: sent as a bearer token; nil for none.
    package init(baseURL: URL, key: String?, model: String, client: ServiceClient) {
        url = baseURL
        self.key = key
        self.model = model
        self.client = client
    }

    private var authorization: [(String, String)] { key.map { [("Authorization", "Bearer \($0)")] } ?? [] }

    /// Probes with the list of models, which is free of charge.
    func probe() async -> FailedProbe? {
        await client.probe(url.appendingPathComponent("models"), authorization)
    }

    /// Asks for an answer in the strictest format that the service takes. A format that works after another one was
    /// refused is remembered.
    /// - Parameter messages: makes the messages for a format.
    /// - Throws: ``EngineFailure``, or `CancellationError`.
    func answer(in schema: JSON, to messages: (AnswerFormat) -> [Message]) async throws -> ChatAnswer {
        let now = client.clock.now
        let first = known.withLock { now < $0.expiry ? $0.format : .schema }
        for format in AnswerFormat.allCases where format >= first {
            let answer = try await post(messages(format), format, schema)
            if Self.isTooLong(answer) { return ChatAnswer(text: "", end: .length) }
            if format != .text, Self.refusesFormat(answer.status) { continue }
            do {
                try answer.requireSuccess(of: "note")
            } catch {
                // The words of a refusal may repeat the transcript, so the log gets its code alone.
                throw error.replacingDetail(by: Self.code(in: answer.body))
            }
            let read = try ChatAnswer(answer.body, contentType: answer.contentType)
            if format != first {
                known.withLock { ($0.format, $0.expiry) = (format, now.addingTimeInterval(Self.memory)) }
            }
            return read
        }
        throw EngineFailure(.noteFailed, "the service takes no format of answers")
    }

    /// Whether a status may mean that the service does not know the format: some services fail on it with 500.
    private static func refusesFormat(_ status: Int) -> Bool { [400, 415, 422, 500, 501].contains(status) }

    /// Whether a refusal is about the length of the question, such as `context_length_exceeded`.
    private static func isTooLong(_ answer: ServiceClient.Answer) -> Bool {
        guard [400, 413, 422, 500].contains(answer.status) else { return false }
        let words = code(in: answer.body).lowercased() + " " + answer.excerpt.lowercased()
        return answer.status == 413 || words.contains("context_length") || words.contains("context length")
            || words.contains("context size") || words.contains("context window") || words.contains("maximum context")
    }

    /// Code or type of an error, such as `model_not_found`; empty without one.
    private static func code(in body: Data) -> String {
        let error = JSONDocument.untrusted(body, as: JSONValue.self)?["error"]
        let code = error?["code"]?.stringValue ?? error?["type"]?.stringValue ?? ""
        return code.utf8.count <= 64 && code.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isLetter } ? code : ""
    }

    private func post(
        _ messages: [Message], _ format: AnswerFormat, _ schema: JSON
    ) async throws -> ServiceClient.Answer {
        let hasTemperature = known.withLock { $0.takesTemperature }
        let answer = try await post(body(messages, format, schema, hasTemperature))
        // Some models take no temperature but their own.
        guard hasTemperature, answer.status == 400, answer.excerpt.lowercased().contains("temperature") else {
            return answer
        }
        let second = try await post(body(messages, format, schema, false))
        if (200..<300).contains(second.status) { known.withLock { $0.takesTemperature = false } }
        return second
    }

    private func post(_ body: JSON) async throws -> ServiceClient.Answer {
        try await client.post(
            url.appendingPathComponent("chat/completions"), [("Content-Type", "application/json")] + authorization,
            body: body.bytes)
    }

    private func body(
        _ messages: [Message], _ format: AnswerFormat, _ schema: JSON, _ hasTemperature: Bool
    ) -> JSON {
        let responseFormat: JSON? =
            switch format {
            case .schema:
                ["type": "json_schema", "json_schema": ["name": "note", "strict": true, "schema": schema]]
            case .object: ["type": "json_object"]
            case .text: nil
            }
        return [
            "model": .string(model),
            "messages": .array(messages) { ["role": .string($0.role), "content": .string($0.content)] },
            "temperature": hasTemperature ? 0 : nil, "stream": false, "response_format": responseFormat,
        ]
    }
}
