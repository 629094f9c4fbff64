import Basics
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TestSupport

/// HTTP/1.1 server on 127.0.0.1 that answers as a test tells it, and records its requests.
final class HTTPService: Sendable {
    /// Request that was received whole.
    struct Request: Sendable {
        let method: String
        /// Path and query, as they were sent.
        let target: String
        fileprivate let headers: HTTPHeaders
        let body: Data

        /// First value of a header; nil without it.
        func header(_ name: String) -> String? { headers.first(name: name) }

        var path: String { String(target.prefix { $0 != "?" }) }

        /// Values of a parameter of the query, without percent encoding.
        func query(_ name: String) -> [String] {
            (URLComponents(string: target)?.queryItems ?? []).filter { $0.name == name }.compactMap(\.value)
        }
    }

    /// Answer to a request, or a fault in place of one.
    enum Answer: Sendable {
        case message(status: Int, headers: [(String, String)] = [], body: Data)
        /// Beginning of a longer answer, then the end of the connection.
        case cut(Data)
        /// Text of this many bytes, sent as fast as the client reads it.
        case long(byteCount: Int)
        /// End of the connection without an answer.
        case close
        /// No answer, on a connection that stays open until the client closes it.
        case silence

        static func text(_ text: String, status: Int = 200, type: String = "application/json") -> Answer {
            .message(status: status, headers: [("Content-Type", type)], body: Data(text.utf8))
        }
    }

    /// Record of a service, which outlives its port.
    final class Record: Sendable {
        fileprivate let state = LockedValue((requests: [Request](), sent: 0))
        private let counts = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))

        var requests: [Request] { state.withLock { $0.requests } }
        /// Bytes of long answers that the service could send.
        var sent: Int { state.withLock { $0.sent } }

        fileprivate func add(_ request: Request) {
            let count = state.withLock { state in
                state.requests.append(request)
                return state.requests.count
            }
            counts.continuation.yield(count)
        }

        /// Returns once the service has received this many requests.
        /// - Throws: `CancellationError`.
        func waitFor(_ count: Int) async throws {
            if requests.count >= count { return }
            for await received in counts.stream where received >= count { return }
            throw CancellationError()
        }
    }

    let record = Record()
    let port: Int
    private let channel: any Channel

    var requests: [Request] { record.requests }
    var url: String { "http://127.0.0.1:\(port)" }

    /// Starts a service on a free port.
    /// - Parameters:
    ///   - tls: certificate and key; nil for plain HTTP.
    ///   - answer: called on an event loop, once for each request.
    init(tls: NIOSSLContext? = nil, answer: @escaping @Sendable (Request) -> Answer) async throws {
        let record = record
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Answering(record, answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }
}

/// Reads requests of one connection and answers each.
private final class Answering: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let record: HTTPService.Record
    private let answer: @Sendable (HTTPService.Request) -> HTTPService.Answer
    private var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
    private var body = Data()
    /// Bytes of a long answer that are still to be sent.
    private var left = 0

    private static let piece = ByteBuffer(repeating: UInt8(ascii: "w"), count: 1 << 16)

    init(_ record: HTTPService.Record, _ answer: @escaping @Sendable (HTTPService.Request) -> HTTPService.Answer) {
        self.record = record
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, Data())
        case .body(let part): body.append(contentsOf: part.readableBytesView)
        case .end:
            let request = HTTPService.Request(
                method: head.method.rawValue, target: head.uri, headers: head.headers, body: body)
            record.add(request)
            send(answer(request), context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { sendPieces(context) }

    /// The client has closed the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func send(_ answer: HTTPService.Answer, _ context: ChannelHandlerContext) {
        switch answer {
        case .message(let status, let headers, let body):
            sendHead(status, headers, length: body.count, context)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
            closeAfter(context.writeAndFlush(wrapOutboundOut(.end(nil))), context)
        case .cut(let beginning):
            sendHead(200, [("Content-Type", "application/json")], length: beginning.count + 1000, context)
            closeAfter(
                context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: beginning))))), context)
        case .long(let byteCount):
            sendHead(200, [("Content-Type", "application/json")], length: byteCount, context)
            left = byteCount
            sendPieces(context)
        case .close: context.close(promise: nil)
        case .silence: break
        }
    }

    private func closeAfter(_ write: EventLoopFuture<Void>, _ context: ChannelHandlerContext) {
        let channel = context.channel
        write.whenComplete { _ in channel.close(promise: nil) }
    }

    private func sendHead(
        _ status: Int, _ headers: [(String, String)], length: Int, _ context: ChannelHandlerContext
    ) {
        let fields = HTTPHeaders(headers + [("Content-Length", "\(length)"), ("Connection", "close")])
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// Sends pieces of a long answer while the socket takes them.
    private func sendPieces(_ context: ChannelHandlerContext) {
        while left > 0, context.channel.isWritable {
            let piece = Self.piece.getSlice(at: 0, length: min(left, Self.piece.readableBytes)) ?? ByteBuffer()
            left -= piece.readableBytes
            record.state.withLock { $0.sent += piece.readableBytes }
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece))), promise: nil)
            if left == 0 { context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil) }
        }
    }
}
