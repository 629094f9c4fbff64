import Basics
import Connections
package import Foundation
import HTTPTypes
import Journal
package import ScribeDomain
import ScribeRuntime

/// Frames of one socket with their times, as lines of JSON that a repository can hold.
package struct SocketRecording: Sendable {
    /// Frame of a recording.
    package struct Frame: Sendable {
        enum Content: Sendable {
            case text(String)
            case binary(size: Int, sha256: String)
            case close(code: UInt16, reason: String)
        }

        /// Time after the socket opened.
        let time: Duration
        let sender: RecordedFrame.Sender
        let content: Content
    }

    /// Longest recording, in bytes.
    package static let sizeLimit = 4 << 20
    /// Media type of the text.
    package static let contentType = "application/x-ndjson"
    private static let longestTime = 86_400_000.0
    private static let maxFrames = 2 * JournalSettings.frameLimit

    package let operation: String?
    package let path: String
    package let frames: [Frame]
    /// About the memory that the recording takes, in bytes.
    let size: Int

    // MARK: Writing

    /// A recording's text.
    /// - Throws: ``JournalProblem`` for an entry that is no socket, or of which frames are missing.
    package static func text(of shown: ShownExchange) throws(JournalProblem) -> [UInt8] {
        let exchange = shown.exchange
        guard exchange.kind == .socket, shown.response?.status == .switchingProtocols, let path = shown.path else {
            throw .notSocket(shown.number)
        }
        guard exchange.framesLeftOut == 0 else { throw .notWhole(shown.number) }
        var lines: [JSON] = [
            [
                "scribe_recording": 1, "note": "The words and names of a conversation are in this file.",
                "operation": shown.operation.map(JSON.string), "path": .string(path),
                "query": shown.query.map(JSON.string), "recorded_at": .string(ShownExchange.time(exchange.startedAt)),
            ]
        ]
        for frame in exchange.frames {
            switch frame.content {
            case .ping, .pong: continue
            case .text(let body):
                guard body.text != nil, !body.isTruncated else { throw .notWhole(shown.number) }
            case .binary(let body):
                guard frame.sender == .client, body.sha256 != nil else { throw .notWhole(shown.number) }
            case .close: break
            }
            lines.append(shown.frame(frame))
        }
        return lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] }
    }

    // MARK: Reading

    /// Reads a recording.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` that names the line.
    package init(_ text: Data) throws(ScribeError) {
        let lines = text.split(separator: UInt8(ascii: "\n")).filter { !$0.allSatisfy { $0 == 13 || $0 == 32 } }
        func problem(_ line: Int, _ problem: String) -> ScribeError {
            .invalidRequest(field: "line \(line)", problem: problem)
        }
        func json(_ index: Int) throws(ScribeError) -> JSONValue {
            guard let value = JSONDocument.untrusted(Data(lines[index]), as: JSONValue.self), value.isObject else {
                throw problem(index + 1, "must be a JSON object")
            }
            return value
        }
        guard !lines.isEmpty else { throw problem(1, "is missing") }
        guard lines.count <= Self.maxFrames else { throw problem(lines.count, "is too many") }
        let head = try json(0)
        guard head["scribe_recording"] == .integer(1), let path = head["path"]?.stringValue else {
            throw problem(1, "is not the head of a recording")
        }
        self.path = path
        operation = head["operation"]?.stringValue
        var frames: [Frame] = []
        for index in lines.indices.dropFirst() {
            let line = try json(index)
            guard let time = line["ms"]?.numberValue, (0...Self.longestTime).contains(time),
                time >= (frames.last?.time ?? .zero) / .milliseconds(1)
            else { throw problem(index + 1, "must have 'ms', and none before the last") }
            guard let sender = line["from"]?.stringValue.flatMap(RecordedFrame.Sender.init),
                let content = Self.content(line)
            else { throw problem(index + 1, "must have 'from', and 'text', 'binary' or 'close'") }
            if case .close(let code, _) = content, sender == .server, !WebSocketClosure.isSendable(code) {
                throw problem(index + 1, "has a code that no server sends")
            }
            if case .binary = content, sender == .server {
                throw problem(index + 1, "has data of the server, which is not kept")
            }
            frames.append(Frame(time: .milliseconds(time), sender: sender, content: content))
        }
        self.frames = frames
        size = text.count + frames.count * MemoryLayout<Frame>.stride
    }

    private static func content(_ line: JSONValue) -> Frame.Content? {
        if let text = line["text"]?.stringValue { return .text(text) }
        if case .integer(let code)? = line["close"], let code = UInt16(exactly: code), (1000...4999).contains(code) {
            return .close(code: code, reason: line["reason"]?.stringValue ?? "")
        }
        if case .integer(let size)? = line["binary"]?["size"], let hash = line["binary"]?["sha256"]?.stringValue {
            return .binary(size: Int(size), sha256: hash)
        }
        return nil
    }
}

/// Refusal of a call about the journal.
package enum JournalProblem: Error, Hashable, Sendable {
    case off
    /// The journal keeps neither heads nor bodies.
    case noContent
    case notSocket(Int)
    /// Frames of the socket are missing.
    case notWhole(Int)
    /// The limit of open event streams is reached.
    case tooManyStreams(limit: Int)
    case tooManyPlaybacks(limit: Int)
}
