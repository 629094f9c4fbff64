import Basics
package import Connections
import Crypto
import Foundation
import HTTPTypes
package import Hummingbird
import Journal
import Logging
import NIOCore
import ScribeDomain
import ScribeRuntime
import ServiceLifecycle

/// Parses a request to switch to WebSocket, and answers it (RFC 6455, section 4.2).
package struct WebSocketUpgrade: Sendable {
    /// Time without a frame until the server sends a ping; after twice that time the socket closes.
    private static let silence: Duration = .seconds(20)

    private let key: String
    /// Subprotocols that the client offers, in its order.
    package let subprotocols: [String]

    /// Parses a WebSocket handshake request.
    /// - Returns: nil for a request without a WebSocket upgrade, or for another version.
    package init?(_ request: Request) {
        guard request.method == .get, request.headers.wantsWebSocket, request.headers[.secWebSocketVersion] == "13",
            let key = request.headers[.secWebSocketKey], Data(base64Encoded: key)?.count == 16
        else { return nil }
        self.key = key
        subprotocols = request.headers[values: .secWebSocketProtocol]
            .flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Builds the answer that opens the socket. `serve` runs for its whole life; its result or error closes it.
    ///
    /// - Parameters:
    ///   - subprotocol: The agreed subprotocol, one of those offered.
    ///   - end: Fires when the socket's world ends, which closes the socket.
    ///   - memory: Share of the memory budget for incomplete messages.
    ///   - idle: Learns when the client has to wait for memory.
    func response(
        subprotocol: String?, headers: HTTPFields, limits: SocketRoute.Limits, clock: WallClock, end: OneShotSignal,
        memory: MemoryShare, idle: IdleTimeout, _ request: Request, context: ScribeContext,
        serve: @escaping @Sendable (WebSocket, WebSocketMessages) async throws -> WebSocketClosure
    ) -> Response {
        var fields: HTTPFields = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: accept,
        ]
        fields[.secWebSocketProtocol] = subprotocol
        fields.append(contentsOf: headers)
        let (logger, record) = (context.logger, context.record)
        let open = OpenSocket(request, context, own: context.socketFault)
        context.openSocket = open
        let body = ResponseBody { writer in
            let outgoing = OutgoingFrames()
            let socket = WebSocket(outgoing: outgoing, open: open, record: record)
            open.begin(as: socket)
            defer { open.finish() }
            let presence = PingTimeout()
            let messages = WebSocketMessages(
                body: request.body, socket: socket, limits: limits, presence: presence, memory: memory, idle: idle)
            var isLost = false
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let closure = await Self.closure(of: socket, messages, presence, clock, end, logger, serve)
                    if let closure { socket.close(closure) } else { socket.drop() }
                }
                do {
                    while let batch = await outgoing.next() {
                        if let due = batch.due { try await open.wait(until: due) }
                        try await writer.write(batch.bytes)
                    }
                    // Closed, perhaps by another task than `serve`.
                    group.cancelAll()
                } catch {
                    // The client has disconnected. `serve` learns so at its next send or receive, and may still process
                    // earlier messages.
                    outgoing.finish()
                    isLost = true
                }
                try await group.waitForAll()
            }
            if messages.isCut || isLost && !messages.isClosed { record?.end(.cut) }
            try await writer.finish(nil)
        }
        return Response(status: .switchingProtocols, headers: fields, body: body)
    }

    /// Serves the socket to its end.
    /// - Returns: The closure to send; nil if the client has disconnected.
    private static func closure(
        of socket: WebSocket, _ messages: WebSocketMessages, _ presence: PingTimeout, _ clock: WallClock,
        _ end: OneShotSignal, _ logger: Logger,
        _ serve: @escaping @Sendable (WebSocket, WebSocketMessages) async throws -> WebSocketClosure
    ) async -> WebSocketClosure? {
        do {
            if let end = socket.open?.endAtOnce { try socket.end(end) }
            return try await withGracefulShutdownHandler {
                try await end.watched(by: { socket.close(.worldEnded) }) {
                    guard !end.hasFired else { throw WebSocketClosure.worldEnded }
                    return try await withThrowingTaskGroup(of: WebSocketClosure?.self) { group in
                        group.addTask { try await serve(socket, messages) }
                        group.addTask {
                            try await presence.watch(socket, Self.silence, clock)
                            return nil
                        }
                        defer { group.cancelAll() }
                        return try await group.next() ?? nil
                    }
                }
            } onGracefulShutdown: {
                socket.close(.goingAway)
            }
        } catch let closure as WebSocketClosure {
            return closure
        } catch is CancellationError {
            return messages.hasEnded ? nil : .goingAway
        } catch  where error.isBrokenRequest {
            return nil
        } catch {
            logger.error("a socket has failed", metadata: ["error": "\(error)"])
            return WebSocketClosure(1011, "Something went wrong")
        }
    }

    private var accept: String {
        let digest = Insecure.SHA1.hash(data: Data("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return Data(digest).base64EncodedString()
    }
}

/// Detects lost clients: pings a silent client, and closes the socket without an answer.
final class PingTimeout: Sendable {
    private let count = LockedValue(0)
    private let isAwaited = LockedValue(false)

    func recordActivity() { count.withLock { $0 += 1 } }

    /// Sets whether the server is reading. Only then does the client's silence count.
    func isAwaited(_ value: Bool) { isAwaited.withLock { $0 = value } }

    /// Pings a silent client, repeatedly.
    /// - Throws: ``WebSocketClosure`` if the client does not answer, `CancellationError`.
    func watch(_ socket: WebSocket, _ silence: Duration, _ clock: WallClock) async throws {
        var isAsked = false
        var last = count.withLock { $0 }
        while true {
            try await clock.sleep(for: silence, as: .socketPing)
            let now = count.withLock { $0 }
            if now != last || !isAwaited.withLock({ $0 }) {
                (last, isAsked) = (now, false)
            } else if isAsked {
                throw WebSocketClosure(1011, "Nothing was heard of the client")
            } else {
                isAsked = true
                try await socket.send(.ping, ByteBuffer())
            }
        }
    }
}

/// The client's messages in order, read on demand: the server reads no faster than the handler. Pings are answered.
package final class WebSocketMessages: AsyncSequence, Sendable {
    package typealias Element = WebSocketMessage

    private let body: RequestBody
    private let limits: SocketRoute.Limits
    fileprivate let socket: WebSocket
    fileprivate let presence: PingTimeout
    fileprivate let memory: MemoryShare
    fileprivate let idle: IdleTimeout
    fileprivate let ended = LockedValue(false)
    fileprivate let closed = LockedValue(false)
    fileprivate let cut = LockedValue(false)

    init(
        body: RequestBody, socket: WebSocket, limits: SocketRoute.Limits, presence: PingTimeout,
        memory: MemoryShare, idle: IdleTimeout
    ) {
        self.body = body
        self.socket = socket
        self.limits = limits
        self.presence = presence
        self.memory = memory
        self.idle = idle
    }

    /// Whether the client has closed the socket or disconnected.
    var hasEnded: Bool { ended.withLock { $0 } }

    /// Whether the client has left an open socket without closing it, or has broken the protocol.
    var isCut: Bool { cut.withLock { $0 } }

    /// Whether the client has closed the socket.
    var isClosed: Bool { closed.withLock { $0 } }

    package func makeAsyncIterator() -> Iterator {
        Iterator(
            bytes: body.makeAsyncIterator(),
            decoder: WebSocketDecoder(
                limit: limits.messageSize, textLimit: limits.textSize, firstLimit: limits.firstSize), messages: self)
    }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var bytes: RequestBody.AsyncIterator
        fileprivate var decoder: WebSocketDecoder
        fileprivate let messages: WebSocketMessages

        /// The next text or binary message; nil after a disconnection. Memory of the previous one is released.
        /// - Throws: ``WebSocketClosure`` that answers the client's close, or that reports its protocol error.
        package mutating func next() async throws -> WebSocketMessage? {
            messages.memory.hold(decoder.heldBytes)
            if let end = messages.socket.open?.endAfterReceived {
                try messages.socket.end(end)
                messages.ended.withLock { $0 = true }
                return nil
            }
            while true {
                if let message = try await arrived() { return message }
                guard let buffer = try await received() else {
                    messages.ended.withLock { $0 = true }
                    if messages.socket.isOpen { messages.cut.withLock { $0 = true } }
                    return nil
                }
                try await hold(buffer.readableBytes)
                decoder.receive(buffer)
            }
        }

        /// The next message of those that have arrived already; nil for none. Pings are answered.
        /// - Throws: As ``next()``.
        package mutating func arrived() async throws -> WebSocketMessage? {
            while let message = try await decodedOrBroken() {
                messages.presence.recordActivity()
                switch message {
                case .ping(let payload):
                    await messages.socket.note(.ping, payload, from: .client)
                    try await messages.socket.send(.pong, payload)
                case .pong: await messages.socket.note(.pong, ByteBuffer(), from: .client)
                case .close(let code):
                    messages.closed.withLock { $0 = true }
                    messages.socket.record?.add(.close(code: code ?? 1005, reason: ""), from: .client)
                    throw WebSocketClosure(code ?? 1000)
                case .text(let text):
                    await messages.socket.note(.text, ByteBuffer(string: text), from: .client)
                    messages.socket.open?.countReceived()
                    return message
                case .binary(let data):
                    await messages.socket.note(.binary, data, from: .client)
                    messages.socket.open?.countReceived()
                    return message
                }
            }
            return nil
        }

        private mutating func decodedOrBroken() async throws -> WebSocketMessage? {
            do {
                return try await decoded()
            } catch let closure as WebSocketClosure where closure.isProtocolError {
                messages.cut.withLock { $0 = true }
                throw closure
            }
        }

        /// Decodes the next message; a large one off the event loop.
        private mutating func decoded() async throws -> WebSocketMessage? {
            guard decoder.isWhole, decoder.heldBytes > EventLoopOffload.threshold else { return try decoder.next() }
            return try await EventLoopOffload.run(bytes: decoder.heldBytes) { try decoder.next() }
        }

        /// Reserves memory for received bytes. While none is free the client is not read, and not idle.
        private func hold(_ count: Int) async throws {
            guard !messages.memory.takeAtOnce(count) else { return }
            do {
                try await messages.idle.whileBusy { try await messages.memory.take(count) }
            } catch is MemoryBudget.Exhausted {
                throw WebSocketClosure.noMemory
            }
        }

        private mutating func received() async throws -> ByteBuffer? {
            messages.presence.isAwaited(true)
            defer { messages.presence.isAwaited(false) }
            return try await bytes.next(isolation: #isolation)
        }
    }
}
