import Basics
import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOWebSocket
import TestSupport

/// Live speech service on 127.0.0.1 with Deepgram's protocol, which does with each connection what a test tells it.
///
/// A word is a tenth of a second in which all samples are ``firstWord`` plus its number.
final class LiveService: Sendable {
    /// Treatment of one connection.
    enum Behaviour: Sendable {
        /// Settles words, five at a time. The connection breaks with the message that reaches so many bytes of audio.
        case recognises(cutAt: Int? = nil)
        /// Accepts the WebSocket, and reads without a word or a pong.
        case saysNothing
        /// Accepts the WebSocket, sends a close frame in the same write as its 101, and waits for the client's.
        case closesWithUpgrade(UInt16)
        /// Closes the connection after the request, without an answer.
        case hangsUp
        /// Answers the request with this status in place of a 101.
        case refuses(Int)
    }

    /// Requests and messages that the service has received.
    struct Log: Sendable {
        /// Path and query of each connection.
        var targets: [String] = []
        /// `Authorization` header of each connection.
        var keys: [String?] = []
        /// Close frames of all connections.
        var closes = 0
        /// Types of the text messages of all connections.
        var messages: [String] = []
    }

    static let rate = 16_000
    /// Samples of a word.
    static let word = rate / 10
    static let firstWord: Int16 = 1000

    /// Audio of words with the numbers from 0.
    static func audio(words: Int) -> ByteBuffer {
        var buffer = ByteBuffer()
        for number in 0..<words {
            for _ in 0..<word { buffer.writeInteger(firstWord + Int16(number), endianness: .little) }
        }
        return buffer
    }

    final class State: Sendable {
        let log = LockedValue(Log())
        let behaviours: LockedValue<(first: [Behaviour], then: Behaviour)>
        let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

        init(_ first: [Behaviour], then: Behaviour) { behaviours = LockedValue((first, then)) }

        /// Notes a request or a message.
        func note(_ change: (inout Log) -> Void) {
            log.withLock(change)
            changes.continuation.yield()
        }

        func next() -> Behaviour { behaviours.withLock { $0.first.isEmpty ? $0.then : $0.first.removeFirst() } }
    }

    private let state: State
    private let channel: any Channel

    var log: Log { state.log.withLock { $0 } }
    var connections: Int { log.targets.count }
    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    /// Starts a service on a free port.
    /// - Parameters:
    ///   - first: behaviours of the first connections, one for each.
    ///   - then: behaviour of all further connections.
    init(_ first: [Behaviour] = [], then: Behaviour = .recognises()) async throws {
        let state = State(first, then: then)
        self.state = state
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Upgrade(state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit { channel.close(promise: nil) }

    /// Treats all further connections so.
    func become(_ behaviour: Behaviour) { state.behaviours.withLock { $0.then = behaviour } }

    /// Returns once the log is so.
    /// - Throws: `CancellationError`.
    func wait(until isSo: (Log) -> Bool) async throws {
        if isSo(log) { return }
        for await _ in state.changes.stream where isSo(log) { return }
        throw CancellationError()
    }
}

/// Reads the request of one connection, and switches to WebSocket by hand.
private final class Upgrade: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let state: LiveService.State
    private var received = ByteBuffer()
    /// Whether the request has come; frames after it are not read here.
    private var isAnswered = false

    init(_ state: LiveService.State) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        received.writeImmutableBuffer(unwrapInboundIn(data))
        let text = String(buffer: received)
        guard let end = text.range(of: "\r\n\r\n") else { return }
        isAnswered = true
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        func header(_ name: String) -> String? {
            lines.first { $0.lowercased().hasPrefix("\(name):") }?.dropFirst(name.count + 1)
                .trimmingCharacters(in: .whitespaces)
        }
        let key = header("authorization")
        state.note { log in
            log.targets.append(lines[0].components(separatedBy: " ").dropFirst().first ?? "")
            log.keys.append(key)
        }
        switch state.next() {
        case .hangsUp: context.close(promise: nil)
        case .refuses(let status):
            send("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n", context)
            context.close(promise: nil)
        case .closesWithUpgrade(let code):
            let frame = [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)]
            accept(header("sec-websocket-key"), Recognition(state, hasClosed: true), with: frame, context)
        case .saysNothing: accept(header("sec-websocket-key"), nil, context)
        case .recognises(let cut):
            accept(header("sec-websocket-key"), Recognition(state, cutAt: cut), context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Adds the codec, and removes this handler. The client sends its first frame only after the 101.
    private func accept(
        _ key: String?, _ recognition: Recognition?, with frame: [UInt8] = [], _ context: ChannelHandlerContext
    ) {
        do {
            let pipeline = context.pipeline.syncOperations
            if let recognition {
                let decoder = ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: 1 << 20))
                try pipeline.addHandlers([decoder, WebSocketFrameEncoder(), recognition])
            }
            send(accepted(key), with: frame, context)
            pipeline.removeHandler(self, promise: nil)
        } catch {
            context.close(promise: nil)
        }
    }

    private func accepted(_ key: String?) -> String {
        let digest = Insecure.SHA1.hash(data: Data("\(key ?? "")258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(Data(digest).base64EncodedString())\r\n\r\n"
    }

    private func send(_ text: String, with bytes: [UInt8] = [], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Array(text.utf8) + bytes)), promise: nil)
    }
}
