package import NIOCore

/// A frame of a WebSocket (RFC 6455, section 5).
package struct WebSocketFrame: Hashable, Sendable {
    package enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        /// Whether frames of this kind may come between the fragments of a message.
        package var isControl: Bool { rawValue >= 8 }
    }

    package let opcode: Opcode
    /// Whether the frame is the last of its message.
    package let isFinal: Bool
    /// The payload, unmasked.
    package let payload: ByteBuffer

    package init(_ opcode: Opcode, _ payload: ByteBuffer, isFinal: Bool = true) {
        self.opcode = opcode
        self.payload = payload
        self.isFinal = isFinal
    }

    /// The encoded frame, without a mask, as servers send it.
    package var bytes: ByteBuffer {
        let count = payload.readableBytes
        var frame = ByteBuffer()
        frame.reserveCapacity(count + 10)
        frame.writeInteger(opcode.rawValue | (isFinal ? 0x80 : 0))
        switch count {
        case ..<126: frame.writeInteger(UInt8(count))
        case ..<65_536:
            frame.writeInteger(UInt8(126))
            frame.writeInteger(UInt16(count))
        default:
            frame.writeInteger(UInt8(127))
            frame.writeInteger(UInt64(count))
        }
        frame.writeImmutableBuffer(payload)
        return frame
    }
}

/// Code and reason that close a WebSocket.
package struct WebSocketClosure: Error, Hashable, Sendable {
    /// Close code (RFC 6455, section 7.4.1).
    package let code: UInt16
    /// Reason text; at most 123 bytes are sent.
    package let reason: String

    package init(_ code: UInt16, _ reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// Whether a server may send a code (RFC 6455, section 7.4).
    package static func isSendable(_ code: UInt16) -> Bool {
        (1000...1014).contains(code) && ![1004, 1005, 1006].contains(code) || (3000...4999).contains(code)
    }

    package static let normal = WebSocketClosure(1000)
    package static let goingAway = WebSocketClosure(1001, "The server is stopping")
    /// Closes a socket whose world has ended.
    package static let worldEnded = WebSocketClosure(1012, "The namespace was reset; reconnect")
    package static func protocolError(_ reason: String) -> Self { .init(1002, reason) }
    package static let notText = WebSocketClosure(1007, "A text is not UTF-8")
    package static let noMemory = WebSocketClosure(1013, "There is no room for so much at once, try again")
    /// Whether the client has sent bytes that are no WebSocket frame.
    package var isProtocolError: Bool { code == 1002 || self == .notText }
    package static func tooBig(_ limit: Int) -> Self { .init(1009, "A message has more than \(limit) bytes") }

    package var frame: WebSocketFrame {
        var payload = ByteBuffer(integer: code)
        // Cut between characters, so that the reason stays valid UTF-8.
        var text = ""
        for character in reason where text.utf8.count + character.utf8.count <= 123 { text.append(character) }
        payload.writeString(text)
        return WebSocketFrame(.close, payload)
    }
}
