import Basics
import Connections
import Engines
import Foundation
import NIOCore
import ScribeHTTP

/// Extracts PCM samples from stream messages: raw bytes, or telephony envelopes in JSON (medscribe.md 2.5).
struct StreamAudio {
    private(set) var options = LiveOptions()
    private(set) var isStopped = false
    private var whole = SampleJoiner()

    private static let badMessage = WebSocketClosure(1007, "No JSON as it is expected here")

    /// Decodes one stream message into PCM samples.
    /// - Returns: The samples; nil for a message without audio.
    /// - Throws: ``WebSocketClosure`` whose reason names the problem.
    mutating func samples(in message: WebSocketMessage) async throws -> ByteBuffer? {
        // A long message is decoded off the event loop.
        try await EventLoopOffload.run(bytes: message.size) { try read(message) }
    }

    private mutating func read(_ message: WebSocketMessage) throws -> ByteBuffer? {
        switch message {
        case .binary(let bytes): return whole.take(bytes)
        case .text(let text):
            guard
                let envelope = JSONDocument.untrusted(
                    Data(text.utf8), as: JSONValue.self, upTo: JSONDocument.maxValuesOfMessage), envelope.isObject
            else {
                throw Self.badMessage
            }
            switch envelope["event"]?.stringValue {
            case "start": try begin(envelope["start"]?["mediaFormat"])
            case "stop": isStopped = true
            case "media":
                guard let payload = envelope["media"]?["payload"]?.stringValue, let data = Data(base64Encoded: payload)
                else { throw Self.badMessage }
                return whole.take(ByteBuffer(bytes: data))
            // Other telephony events: connected, mark, dtmf.
            default: break
            }
            return nil
        case .ping, .pong, .close: return nil
        }
    }

    private mutating func begin(_ format: JSONValue?) throws {
        let told = format?["encoding"]?.stringValue?.lowercased() ?? "audio/x-l16"
        let encoding = String(told.prefix { $0 != ";" })
        guard ["audio/x-l16", "audio/l16", "audio/x-linear16", "linear16", "pcm", "audio/pcm"].contains(encoding) else {
            throw WebSocketClosure(1003, "Only 16-bit PCM is supported")
        }
        guard let text = format?["sampleRate"]?.scalarText else { return }
        guard let rate = Int(text), (8000...48_000).contains(rate) else {
            throw WebSocketClosure(1003, "No such sample rate")
        }
        options.sampleRate = rate
    }
}
