package import NIOCore

/// A message from a WebSocket's client.
package enum WebSocketMessage: Hashable, Sendable {
    case text(String)
    case binary(ByteBuffer)
    case ping(ByteBuffer)
    case pong
    /// The client closes the socket; nil without a code.
    case close(UInt16?)

    /// Length of the payload, in bytes.
    package var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes), .ping(let bytes): bytes.readableBytes
        case .pong, .close: 0
        }
    }
}

/// Decodes a client's frames across arbitrary buffer boundaries, and joins fragmented messages.
///
/// Not NIO's decoder: that is a pipeline handler, and here a socket is the body of a request.
package struct WebSocketDecoder: Sendable {
    /// Longest message, in bytes.
    private let limit: Int
    /// Longest text message, in bytes.
    private let textLimit: Int
    /// Longest first message, in bytes; nil once that is complete.
    private var firstLimit: Int?
    private var pending = ByteBuffer()
    /// A fragmented message that is not complete.
    private var message: (opcode: WebSocketFrame.Opcode, payload: ByteBuffer)?
    /// Fragments of the present message. Each costs the server more than its sender, so they are limited.
    private var fragments = 0

    private static let maxFragments = 10_000

    /// - Parameters:
    ///   - limit: Longest message, in bytes.
    ///   - textLimit: Longest text message; nil for `limit`.
    ///   - firstLimit: Longest first message; nil for `limit`.
    package init(limit: Int, textLimit: Int? = nil, firstLimit: Int? = nil) {
        self.limit = limit
        self.firstLimit = firstLimit
        self.textLimit = min(limit, textLimit ?? limit)
    }

    private func limit(of opcode: WebSocketFrame.Opcode) -> Int {
        min(opcode == .text ? textLimit : limit, opcode.isControl ? limit : firstLimit ?? limit)
    }

    /// Bytes received and not returned as messages.
    package var heldBytes: Int { pending.readableBytes + (message?.payload.readableBytes ?? 0) }

    /// Whether the next frame is complete, malformed or too long, so that decoding makes progress.
    package var isWhole: Bool {
        guard let second = pending.getInteger(at: pending.readerIndex + 1, as: UInt8.self), second & 0x7F == 127,
            let length = pending.getInteger(at: pending.readerIndex + 2, as: UInt64.self)
        else { return true }
        return length > UInt64(pending.readableBytes) ? length > UInt64(limit) : true
    }

    /// Adds received bytes of frames.
    package mutating func receive(_ buffer: ByteBuffer) {
        pending.discardReadBytes()
        if pending.readableBytes == 0 { pending = buffer } else { pending.writeImmutableBuffer(buffer) }
    }

    /// The next message; nil until one is complete.
    /// - Throws: ``WebSocketClosure`` for a protocol error.
    package mutating func next() throws(WebSocketClosure) -> WebSocketMessage? {
        let message = try nextMessage()
        switch message {
        case .text, .binary: firstLimit = nil
        case .ping, .pong, .close, nil: break
        }
        return message
    }

    private mutating func nextMessage() throws(WebSocketClosure) -> WebSocketMessage? {
        while let frame = try nextFrame() {
            switch frame.opcode {
            case .ping: return .ping(frame.payload)
            case .pong: return .pong
            case .close: return .close(try Self.code(of: frame.payload))
            case .text, .binary:
                guard message == nil else { throw .protocolError("A message began within another") }
                if frame.isFinal { return try Self.message(frame.opcode, frame.payload) }
                message = (frame.opcode, frame.payload)
                fragments = 1
            case .continuation:
                guard var begun = message else { throw .protocolError("A message goes on that has not begun") }
                fragments += 1
                let limit = limit(of: begun.opcode)
                guard begun.payload.readableBytes + frame.payload.readableBytes <= limit,
                    fragments <= Self.maxFragments
                else { throw .tooBig(limit) }
                // Released first: a second reference would make every append copy the message.
                message = nil
                begun.payload.writeImmutableBuffer(frame.payload)
                if frame.isFinal { return try Self.message(begun.opcode, begun.payload) }
                message = begun
            }
        }
        return nil
    }

    private static func message(
        _ opcode: WebSocketFrame.Opcode, _ payload: ByteBuffer
    ) throws(WebSocketClosure) -> WebSocketMessage {
        guard opcode == .text else { return .binary(payload) }
        guard let text = String(validating: payload.readableBytesView, as: UTF8.self) else { throw .notText }
        return .text(text)
    }

    private static func code(of payload: ByteBuffer) throws(WebSocketClosure) -> UInt16? {
        var payload = payload
        guard payload.readableBytes > 0 else { return nil }
        guard let code = payload.readInteger(as: UInt16.self),
            (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999).contains(code)
        else { throw .protocolError("Invalid close code") }
        guard String(validating: payload.readableBytesView, as: UTF8.self) != nil else { throw .notText }
        return code
    }

    private mutating func nextFrame() throws(WebSocketClosure) -> WebSocketFrame? {
        var rest = pending
        guard let first = rest.readInteger(as: UInt8.self), let second = rest.readInteger(as: UInt8.self) else {
            return nil
        }
        guard first & 0x70 == 0 else { throw .protocolError("No extension was agreed on") }
        guard let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0F) else {
            throw .protocolError("The frame is of no known kind")
        }
        let isFinal = first & 0x80 != 0
        guard second & 0x80 != 0 else { throw .protocolError("A client's frames are masked") }
        let length: UInt64
        switch second & 0x7F {
        case 126:
            guard let long = rest.readInteger(as: UInt16.self) else { return nil }
            length = UInt64(long)
        case 127:
            guard let long = rest.readInteger(as: UInt64.self) else { return nil }
            length = long
        case let short: length = UInt64(short)
        }
        if opcode.isControl, !isFinal || length > 125 { throw .protocolError("A control frame is short and whole") }
        // Checked before waiting for the payload, so that a too long frame is never buffered.
        let limit = limit(of: opcode == .continuation ? message?.opcode ?? opcode : opcode)
        guard length <= UInt64(limit) else { throw .tooBig(limit) }
        guard let mask = rest.readInteger(as: UInt32.self), var payload = rest.readSlice(length: Int(length)) else {
            return nil
        }
        // An idle socket holds no buffer.
        pending = rest.readableBytes == 0 ? ByteBuffer() : rest
        Self.unmask(&payload, mask)
        return WebSocketFrame(opcode, payload, isFinal: isFinal)
    }

    /// Unmasks a payload, eight bytes at a time.
    private static func unmask(_ payload: inout ByteBuffer, _ mask: UInt32) {
        guard mask != 0 else { return }
        payload.withUnsafeMutableReadableBytes { bytes in
            let word = UInt64(mask.bigEndian) | UInt64(mask.bigEndian) << 32
            var position = 0
            while position + 8 <= bytes.count {
                let value = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                bytes.storeBytes(of: value ^ word.littleEndian, toByteOffset: position, as: UInt64.self)
                position += 8
            }
            while position < bytes.count {
                bytes[position] ^= UInt8(truncatingIfNeeded: mask >> UInt32(24 - 8 * (position & 3)))
                position += 1
            }
        }
    }
}
