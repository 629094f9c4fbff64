import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOTLS
import ScribeRuntime
import Testing

@testable import ScribeHTTP

struct ConnectionGuardTests {
    private let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.handshakeTime = .seconds(5)
        limits.requestTime = .seconds(20)
        return limits
    }()

    private func channel(awaitsHandshake: Bool = false) throws -> (EmbeddedChannel, ConnectionGuard) {
        let guardHandler = ConnectionGuard(limits: limits, departure: Departure(), awaitsHandshake: awaitsHandshake)
        let channel = EmbeddedChannel(handler: guardHandler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return (channel, guardHandler)
    }

    @Test("who says nothing is waited for as long as the limits say, and no longer")
    func silence() throws {
        let (channel, _) = try channel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(19))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a handshake has a time of its own, and the first request its whole time after it")
    func handshake() throws {
        let (slow, _) = try channel(awaitsHandshake: true)
        slow.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!slow.isActive)

        let (channel, _) = try channel(awaitsHandshake: true)
        channel.embeddedEventLoop.advanceTime(by: .seconds(4))
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        channel.embeddedEventLoop.advanceTime(by: .seconds(19))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("where another protocol has taken over, nothing is ended, refused or understood any more")
    func upgraded() throws {
        let (channel, guardHandler) = try channel()
        try channel.writeInbound(
            HTTPServerRequestPart.head(
                .init(version: .http1_1, method: .GET, uri: "/", headers: ["host": "localhost"])))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        guardHandler.upgraded()
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        _ = try channel.readInbound(as: HTTPServerRequestPart.self)
        _ = try channel.readInbound(as: HTTPServerRequestPart.self)
        try channel.writeInbound(ByteBuffer(string: "frame"))
        #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "frame"))
        try channel.writeOutbound(ByteBuffer(string: "answer"))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "answer"))
    }
}
