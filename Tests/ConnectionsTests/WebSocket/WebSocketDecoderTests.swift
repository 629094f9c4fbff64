import NIOCore
import ServerTestSupport
import Testing

@testable import Connections

struct WebSocketDecoderTests {
    /// A frame as a client sends it.
    private func frame(_ first: UInt8, _ payload: [UInt8], mask: [UInt8] = [1, 2, 3, 4]) -> ByteBuffer {
        var frame = ByteBuffer(integer: first)
        switch payload.count {
        case ..<126: frame.writeInteger(0x80 | UInt8(payload.count))
        case ..<65_536:
            frame.writeInteger(UInt8(0x80 | 126))
            frame.writeInteger(UInt16(payload.count))
        default:
            frame.writeInteger(UInt8(0x80 | 127))
            frame.writeInteger(UInt64(payload.count))
        }
        frame.writeBytes(mask)
        frame.writeBytes(payload.enumerated().map { $1 ^ mask[$0 % 4] })
        return frame
    }

    private func messages(_ bytes: ByteBuffer, cutInto size: Int = .max) throws -> [WebSocketMessage] {
        var decoder = WebSocketDecoder(limit: 100_000)
        var messages: [WebSocketMessage] = []
        var rest = bytes
        while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
            decoder.receive(piece)
            while let message = try decoder.next() { messages.append(message) }
        }
        return messages
    }

    @Test(
        "WebSocket messages of every length are decoded however their bytes are split",
        arguments: [1, 2, 7, 1000, Int.max])
    func lengths(size: Int) throws {
        for count in [0, 1, 7, 8, 9, 125, 126, 127, 65_535, 65_536] {
            let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            #expect(
                try messages(frame(0x82, payload), cutInto: size) == [.binary(ByteBuffer(bytes: payload))], "\(count)")
        }
    }

    @Test("a WebSocket message in several frames is joined, and a ping between them is passed on at once")
    func fragments() throws {
        var bytes = frame(0x01, Array("good ".utf8))
        bytes.writeImmutableBuffer(frame(0x89, Array("?".utf8)))
        bytes.writeImmutableBuffer(frame(0x00, Array("mor".utf8)))
        bytes.writeImmutableBuffer(frame(0x80, Array("ning".utf8)))
        #expect(try messages(bytes, cutInto: 3) == [.ping(ByteBuffer(string: "?")), .text("good morning")])
    }

    @Test("a WebSocket frame that a client must not send closes the socket with the right code")
    func violations() {
        func code(_ frames: ByteBuffer...) -> UInt16? {
            var bytes = ByteBuffer()
            for frame in frames { bytes.writeImmutableBuffer(frame) }
            do {
                _ = try messages(bytes)
                return nil
            } catch {
                return (error as? WebSocketClosure)?.code
            }
        }
        #expect(code(ByteBuffer(bytes: [0x82, 0x01, 0x00])) == 1002, "without a mask")
        #expect(code(frame(0xC2, [])) == 1002, "an extension")
        #expect(code(frame(0x83, [])) == 1002, "an unknown kind")
        #expect(code(frame(0x80, [])) == 1002, "a continuation of nothing")
        #expect(code(frame(0x01, []), frame(0x82, [])) == 1002, "a message within another")
        #expect(code(frame(0x09, [])) == 1002, "a ping in pieces")
        #expect(code(frame(0x89, [UInt8](repeating: 0, count: 126))) == 1002, "a long ping")
        #expect(code(frame(0x88, [3])) == 1002, "half a close code")
        #expect(code(frame(0x88, [3, 237])) == 1002, "1005 is never sent")
        #expect(code(frame(0x81, [0xFF])) == 1007)
        #expect(code(frame(0x82, [UInt8](repeating: 0, count: 100_001))) == 1009)
        let half = [UInt8](repeating: 0, count: 60_000)
        #expect(code(frame(0x02, half), frame(0x80, half)) == 1009)
    }

    @Test("text messages and the first message of a socket may have limits of their own, whole or in frames")
    func ownLimits() {
        func code(_ decoder: WebSocketDecoder, _ frames: ByteBuffer...) -> UInt16? {
            var decoder = decoder
            do {
                for frame in frames {
                    decoder.receive(frame)
                    while try decoder.next() != nil {}
                }
                return nil
            } catch {
                return error.code
            }
        }
        let (fits, long) = ([UInt8](repeating: 0x20, count: 100), [UInt8](repeating: 0x20, count: 101))
        let texts = WebSocketDecoder(limit: 100_000, textLimit: 100)
        #expect(code(texts, frame(0x81, fits), frame(0x82, long)) == nil)
        #expect(code(texts, frame(0x81, long)) == 1009)
        #expect(code(texts, frame(0x01, fits), frame(0x80, [0x20])) == 1009)
        #expect(code(texts, frame(0x02, fits), frame(0x80, long)) == nil)
        let first = WebSocketDecoder(limit: 100_000, firstLimit: 100)
        #expect(code(first, frame(0x89, []), frame(0x82, fits), frame(0x82, long)) == nil)
        #expect(code(first, frame(0x89, []), frame(0x82, long)) == 1009)
        #expect(code(first, frame(0x01, fits), frame(0x80, [0x20])) == 1009)
    }

    @Test("a close reason is cut between characters to fit a close frame")
    func reason() {
        let frame = WebSocketClosure(1008, String(repeating: "é", count: 100)).frame
        #expect(frame.payload.readableBytes == 2 + 122)
    }
}
