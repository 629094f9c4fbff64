import Basics
import Connections
import Foundation
import NIOCore
import ScribeHTTP

/// Messages of a client on the ambient socket (suki.md 6.2).
enum StreamMessage: Hashable, Sendable {
    /// Begins an audio segment, with the start time of its speech.
    case start(Date)
    /// 16-bit samples, 16 kHz.
    case audio(ByteBuffer)
    /// Ends the stream over this socket.
    case end
    case event(Event)

    enum Event: String, Hashable, Sendable, CaseIterable {
        case pause = "PAUSE"
        case resume = "RESUME"
        case cancel = "CANCEL"
        case abort = "ABORT"
        case keepAlive = "KEEP_ALIVE"
        /// The end marker of older SDKs.
        case end = "EOF"
    }

    /// A malformed message, with the code to close the socket.
    struct Problem: Error, Hashable, Sendable {
        let code: UInt16
        let detail: String

        init(_ code: UInt16, _ detail: String) {
            self.code = code
            self.detail = detail
        }
    }

    /// An AUDIO message without samples, which does not count as audio.
    var isEmpty: Bool { self == .audio(ByteBuffer()) }

    /// The end marker: base64 of `EOF`.
    private static let endMarker = "RU9G"

    /// Decodes a message; a long one off the event loop.
    static func read(_ message: WebSocketMessage) async throws -> StreamMessage {
        try await EventLoopOffload.run(bytes: message.size) { try StreamMessage(message) }
    }

    init(_ message: WebSocketMessage) throws(Problem) {
        guard case .text(let text) = message else { throw Problem(1003, "binary frames are not taken here") }
        guard
            let json = JSONDocument.untrusted(
                Data(text.utf8), as: JSONValue.self, upTo: JSONDocument.maxValuesOfMessage), json.isObject
        else {
            throw Problem(1007, "the message is no JSON object")
        }
        let data = json["data"]?.stringValue
        switch json["type"]?.stringValue {
        case "START_TIME":
            guard let bytes = data.flatMap({ Data(base64Encoded: $0) }),
                let time = Date(iso8601: String(decoding: bytes, as: UTF8.self).uppercased())
            else { throw Problem(1007, "START_TIME is base64 of a time as RFC 3339 has it") }
            self = .start(time)
        case "AUDIO":
            guard data != Self.endMarker else {
                self = .end
                return
            }
            guard let bytes = data.flatMap({ Data(base64Encoded: $0) }) else {
                throw Problem(1007, "AUDIO is base64 of samples")
            }
            guard bytes.count.isMultiple(of: 2) else { throw Problem(1007, "AUDIO ends within a sample") }
            self = .audio(ByteBuffer(bytes: bytes))
        case "EVENT":
            guard let event = (json["event"]?.stringValue ?? data).flatMap(Event.init(rawValue:)) else {
                throw Problem(1007, "there is no such event")
            }
            self = event == .end ? .end : .event(event)
        default: throw Problem(1007, "there is no such type of message")
        }
    }
}
