import NIOCore
import NIOEmbedded
import NIOHTTP1
import ScribeRuntime
import ServerTestSupport
import Testing

@testable import ScribeHTTP

struct ConnectionGuardTests {
    private let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.requestTime = .seconds(20)
        return limits
    }()

    private func channel() throws -> (EmbeddedChannel, ConnectionGuard) {
        let guardHandler = ConnectionGuard(limits: limits, clientDisconnect: OneShotSignal())
        let channel = EmbeddedChannel(handler: guardHandler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return (channel, guardHandler)
    }

    @Test("a connection without a request is closed at its time limit, and not before")
    func silence() throws {
        let (channel, _) = try channel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(19))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    /// A connection with a parser that hands on what it does not understand, and what its client has asked for.
    private func parsed() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([
            HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes)),
            ConnectionGuard(limits: limits, clientDisconnect: OneShotSignal()),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test("bytes that follow an upgrade request before its answer are the socket's first bytes")
    func earlyBytes() throws {
        let channel = try parsed()
        try channel.writeInbound(
            ByteBuffer(string: "GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\nfirst "))
        try channel.writeInbound(ByteBuffer(string: "second"))
        guard case .head? = try channel.readInbound(as: HTTPServerRequestPart.self) else {
            Issue.record("no head")
            return
        }
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == nil)
        try channel.writeOutbound(
            HTTPServerResponsePart.head(.init(version: .http1_1, status: .switchingProtocols)))
        channel.embeddedEventLoop.run()
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == .body(ByteBuffer(string: "first second")))
        try channel.writeInbound(ByteBuffer(string: "third"))
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == .body(ByteBuffer(string: "third")))
    }

    @Test("an open socket is not closed for being slow, and its bytes pass unchanged")
    func upgraded() throws {
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([
            HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
            ConnectionGuard(limits: limits, clientDisconnect: OneShotSignal()),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(
            ByteBuffer(string: "GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"))
        guard case .head? = try channel.readInbound(as: HTTPServerRequestPart.self) else {
            Issue.record("no head")
            return
        }
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == nil, "the request goes on")
        try channel.writeOutbound(
            HTTPServerResponsePart.head(.init(version: .http1_1, status: .switchingProtocols)))
        let head = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: head).hasPrefix("HTTP/1.1 101"))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: "frame"))
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == .body(ByteBuffer(string: "frame")))
        try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "answer"))))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "answer"))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == .end(nil))
    }
}
