import Basics
import Foundation
import ScribeDomain

/// Message of a language model in an answer of `POST /chat/completions`.
struct ChatAnswer: Hashable {
    /// Reason why the model stopped.
    enum End: Hashable {
        case whole
        /// The model reached its limit of tokens (`finish_reason: length`).
        case length
        /// The model or its provider refused (`refusal`, `finish_reason: content_filter`).
        case refusal
    }

    let text: String
    let end: End

    init(text: String, end: End) {
        self.text = text
        self.end = end
    }

    /// Reads an answer, whole or as a stream of server-sent events; some services stream without being asked.
    /// - Throws: ``EngineFailure`` for an answer of another shape, and for a stream that was cut off.
    init(_ body: Data, contentType: String) throws(EngineFailure) {
        if contentType.lowercased().hasPrefix("text/event-stream") {
            self = try Self(events: body)
            return
        }
        guard let choice = JSONDocument.untrusted(body, as: JSONValue.self)?["choices"]?.arrayValue?.first,
            let message = choice["message"], message.isObject
        else { throw Self.unreadable }
        self.init(text: Self.text(of: message["content"]), reason: choice["finish_reason"], refusal: message["refusal"])
    }

    private init(text: String, reason: JSONValue?, refusal: JSONValue?) {
        self.text = text
        if let refusal = refusal?.stringValue, !refusal.isEmpty {
            end = .refusal
        } else {
            switch reason?.stringValue {
            case "length": end = .length
            case "content_filter": end = .refusal
            default: end = .whole
            }
        }
    }

    private init(events body: Data) throws(EngineFailure) {
        var (text, refusal) = ("", "")
        var reason: JSONValue?
        for line in body.split(separator: UInt8(ascii: "\n")) where line.starts(with: Data("data:".utf8)) {
            let data = line.dropFirst(5).drop { $0 == UInt8(ascii: " ") }
            if data.starts(with: Data("[DONE]".utf8)) { break }
            guard let event = JSONDocument.untrusted(Data(data), as: JSONValue.self) else { throw Self.cutOff }
            // The last event of some services has no choice, only the use of tokens.
            guard let choice = event["choices"]?.arrayValue?.first else { continue }
            text += Self.text(of: choice["delta"]?["content"])
            refusal += choice["delta"]?["refusal"]?.stringValue ?? ""
            if let end = choice["finish_reason"], end != .null { reason = end }
        }
        guard reason != nil else { throw Self.cutOff }
        self.init(text: text, reason: reason, refusal: .string(refusal))
    }

    /// Text of a message, given as a string or as a list of parts.
    private static func text(of content: JSONValue?) -> String {
        switch content {
        case .string(let text)?: text
        case .array(let parts)?: parts.compactMap { $0["text"]?.stringValue }.joined()
        default: ""
        }
    }

    private static let unreadable = EngineFailure(
        .noteFailed, "the service's answer is no chat completion", isRetryable: true)
    private static let cutOff = EngineFailure(.noteFailed, "the service's stream was cut off", isRetryable: true)

    // MARK: Object

    /// Most places at which an object may begin; each is read to the end of the text at most.
    private static let mostCandidates = 20

    /// Longest text that can be a note, in bytes.
    private static let longestNote = 256 << 10

    /// The JSON objects in the text that are no part of another, without reasoning before them and without fences.
    var objects: [JSONValue] {
        var rest = text[...]
        // Reasoning models think aloud first, and may draft an object there.
        guard rest.utf8.count <= Self.longestNote else { return [] }
        if rest.contains("<think>"), !rest.contains("</think>") { return [] }
        if let thought = rest.range(of: "</think>", options: .backwards) { rest = rest[thought.upperBound...] }
        let bytes = Array(rest.utf8)
        var found: [JSONValue] = []
        var start = 0
        for _ in 0..<Self.mostCandidates {
            guard let open = bytes[start...].firstIndex(of: UInt8(ascii: "{")) else { break }
            guard let end = Self.end(ofObjectAt: open, in: bytes),
                let value = JSONDocument.untrusted(Data(bytes[open...end]), as: JSONValue.self)
            else {
                start = open + 1
                continue
            }
            found.append(value)
            start = end + 1
        }
        return found
    }

    /// Place of the brace that closes the object; nil if it stays open.
    private static func end(ofObjectAt start: Int, in bytes: [UInt8]) -> Int? {
        var (depth, isText, isEscaped) = (0, false, false)
        for place in start..<bytes.count {
            switch (bytes[place], isText) {
            case (_, true) where isEscaped: isEscaped = false
            case (UInt8(ascii: "\\"), true): isEscaped = true
            case (UInt8(ascii: "\""), _): isText.toggle()
            case (UInt8(ascii: "{"), false): depth += 1
            case (UInt8(ascii: "}"), false):
                depth -= 1
                if depth == 0 { return place }
            default: break
            }
        }
        return nil
    }
}
