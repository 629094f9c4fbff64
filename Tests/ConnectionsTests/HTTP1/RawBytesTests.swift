import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Connections

/// Ends of connections that have switched to WebSocket.
struct RawBytesTests {
    /// Notes how a connection is closed, in place of the system.
    private final class Closing: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private(set) var hasEnded = false

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            hasEnded = true
            promise?.succeed()
        }
    }

    private static let frame: [UInt8] = [0x88, 0x82, 1, 2, 3, 4, 0x03 ^ 1, 0xe8 ^ 2]

    /// A connection whose server has sent its last bytes, after the client's bytes.
    private func connection(after bytes: [UInt8] = []) throws -> (EmbeddedChannel, Closing) {
        let closing = Closing()
        let channel = EmbeddedChannel(handlers: [closing, RawBytes(ConnectionLimits())])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        if !bytes.isEmpty { try channel.writeInbound(ByteBuffer(bytes: bytes)) }
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        return (channel, closing)
    }

    @Test("after its last bytes the server waits for the client's close frame, and drops what comes before")
    func waits() throws {
        let (channel, closing) = try connection()
        try channel.writeInbound(ByteBuffer(bytes: [UInt8](repeating: 0x88, count: 3200)))
        #expect(!closing.hasEnded)
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == nil)
        try channel.writeInbound(ByteBuffer(bytes: [UInt8](repeating: 1, count: 100) + Self.frame))
        #expect(closing.hasEnded)
    }

    @Test("a client that has closed first, or ends the connection, is not waited for")
    func closed() throws {
        let (_, closing) = try connection(after: Self.frame)
        #expect(closing.hasEnded)
        let (channel, other) = try connection(after: [0x82, 0x80, 1, 2, 3, 4])
        #expect(!other.hasEnded)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(other.hasEnded)
    }

    @Test("a client that never closes is waited for two seconds")
    func patience() throws {
        let (channel, closing) = try connection()
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1999))
        #expect(!closing.hasEnded)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(closing.hasEnded)
    }
}
