import Basics
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import ServerTestSupport
import Testing

@testable import Connections

struct ConnectionGuardTests {
    private let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.requestTime = .seconds(20)
        return limits
    }()

    private func channel() throws -> (EmbeddedChannel, ConnectionGuard) {
        let guardHandler = ConnectionGuard(limits: limits, isSecure: false)
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
            ConnectionGuard(limits: limits, isSecure: false),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test("an answered connection is closed once it has been idle, and a stop of the server closes it at once")
    func idle() throws {
        for isStopping in [false, true] {
            let channel = try parsed()
            try channel.writeInbound(ByteBuffer(string: Reads.get))
            if isStopping { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
            #expect(channel.isActive, "an answer is owed")
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            channel.embeddedEventLoop.run()
            #expect(channel.isActive == !isStopping)
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            #expect(channel.isActive == !isStopping)
            channel.embeddedEventLoop.advanceTime(by: .seconds(2))
            #expect(!channel.isActive)
        }
    }

    @Test("bytes that follow an upgrade request before its answer are the socket's first bytes")
    func earlyBytes() throws {
        let channel = try parsed()
        try channel.writeInbound(
            ByteBuffer(string: "GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\nfirst "))
        try channel.writeInbound(ByteBuffer(string: "second"))
        guard case .head? = try channel.readInbound(as: HTTPRequestPart.self) else {
            Issue.record("no head")
            return
        }
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == nil)
        try channel.writeOutbound(
            HTTPResponsePart.head(HTTPResponse(status: .switchingProtocols)))
        channel.embeddedEventLoop.run()
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == .body(ByteBuffer(string: "first second")))
        try channel.writeInbound(ByteBuffer(string: "third"))
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == .body(ByteBuffer(string: "third")))
    }

    @Test("an open socket is not closed for being slow, and its bytes pass unchanged")
    func upgraded() throws {
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([
            HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
            ConnectionGuard(limits: limits, isSecure: false),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(
            ByteBuffer(string: "GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"))
        guard case .head? = try channel.readInbound(as: HTTPRequestPart.self) else {
            Issue.record("no head")
            return
        }
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == nil, "the request goes on")
        try channel.writeOutbound(
            HTTPResponsePart.head(HTTPResponse(status: .switchingProtocols)))
        let head = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: head).hasPrefix("HTTP/1.1 101"))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: "frame"))
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == .body(ByteBuffer(string: "frame")))
        try channel.writeOutbound(HTTPResponsePart.body(ByteBuffer(string: "answer")))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "answer"))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == .end(nil))
    }

    /// Reads of one connection, and the bytes that the guard then knows of the newest request.
    struct Reads: CustomTestStringConvertible, Sendable {
        let name: String
        let reads: [String]
        /// Whether the first request is answered before the last read.
        var answersFirst = false
        let known: String?

        var testDescription: String { name }

        static let get = "GET /a HTTP/1.1\r\nhost: a\r\n\r\n"
        static let emptyChunks = "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
        static let all = [
            Reads(name: "one request", reads: [get], known: get),
            Reads(name: "empty lines before it", reads: ["\r\n\r\n" + get], known: "\r\n\r\n" + get),
            Reads(name: "empty lines in a read of their own", reads: ["\r\n\r\n", get], known: nil),
            Reads(name: "an answered request before it", reads: [get, get], answersFirst: true, known: get),
            Reads(name: "a request that waits for its answer", reads: [get, get], known: nil),
            Reads(name: "two requests in one read", reads: [get + get], known: nil),
            Reads(name: "a head in two reads", reads: ["GET /a HTTP/1.1\r\n", "host: a\r\n\r\n"], known: nil),
            Reads(
                name: "a request behind a request, the rest after the answer",
                reads: [get + "GET /b HTTP/1.1\r\nhost: a\r\n", "x: GET /c HTTP/1.1\r\n\r\n"], answersFirst: true,
                known: nil),
            Reads(
                name: "a body", reads: ["POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n\r\n\r\n"],
                known: nil),
            Reads(
                name: "a body in another read",
                reads: ["POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n", "\r\n\r\n"], known: nil),
            Reads(
                name: "an empty body in chunks",
                reads: [emptyChunks], known: emptyChunks),
            Reads(
                name: "an upgrade",
                reads: ["GET /a HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"],
                known: nil),
            Reads(name: "a target with a host", reads: ["GET http://a/b HTTP/1.1\r\nhost: a\r\n\r\n"], known: nil),
            Reads(
                name: "a connection that ends", reads: ["GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"],
                known: nil),
            Reads(name: "a refused head", reads: ["GET /a HTTP/1.1\r\n\r\n"], known: nil),
        ]
    }

    @Test("the bytes of a request are known if it is alone, whole and without a body", arguments: Reads.all)
    func sentHead(_ given: Reads) throws {
        let channel = try parsed()
        let guardHandler = try channel.pipeline.syncOperations.handler(type: ConnectionGuard.self)
        for (index, read) in given.reads.enumerated() {
            if given.answersFirst, index == given.reads.count - 1 {
                try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
                try channel.writeOutbound(HTTPResponsePart.end(nil))
            }
            let bytes = ByteBuffer(string: read)
            guardHandler.received(bytes.readableBytes)
            try channel.writeInbound(bytes)
            guardHandler.parsed(bytes)
        }
        #expect(guardHandler.takeSentHead().map { String(buffer: $0.bytes) } == given.known)
        #expect(guardHandler.takeSentHead() == nil, "the bytes belong to one request")
    }
}
