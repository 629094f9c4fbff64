import Crypto
import Foundation
import HTTPTypes
package import Hummingbird
import Logging
import NIOCore
import ScribeDomain
import ScribeRuntime
import ServiceLifecycle

/// A request that wants to go on as a WebSocket (RFC 6455, section 4.2).
package struct WebSocketUpgrade: Sendable {
    private let key: String
    /// The subprotocols that the client offers, in its order.
    package let subprotocols: [String]

    /// - Returns: nil when the request asks for no WebSocket, or for one of another version.
    package init?(_ request: Request) {
        guard request.method == .get, request.headers.wantsWebSocket, request.headers[.secWebSocketVersion] == "13",
            let key = request.headers[.secWebSocketKey], Data(base64Encoded: key)?.count == 16
        else { return nil }
        self.key = key
        subprotocols = request.headers[values: .secWebSocketProtocol]
            .flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// What the socket may take.
    package struct Limits: Sendable {
        /// Of a message, in bytes.
        package var messageSize = 1 << 20
        /// Of a message that is a text, in bytes; nil for as much as of any.
        package var textSize: Int?
        /// Of the first message, in bytes; nil for as much as of any.
        package var firstSize: Int?
        /// After so long without a frame of the client's it is asked whether it is there, and after twice that the socket
        /// is given up.
        package var silence: Duration = .seconds(20)

        package init() {}
    }

    /// The answer with which the socket opens. `serve` has it as long as it runs; what it throws or returns closes it.
    ///
    /// - Parameters:
    ///   - subprotocol: that was agreed on, one of those offered.
    ///   - end: of the world that the socket is of; it is closed then.
    ///   - memory: holds what has come of a message.
    ///   - idle: is told while the client waits for memory.
    func response(
        subprotocol: String?, headers: HTTPFields, limits: Limits, clock: WallClock, end: Departure,
        memory: MemoryShare,
        idle: IdleWatch, _ request: Request, context: ScribeContext,
        serve: @escaping @Sendable (WebSocket, WebSocketMessages) async throws -> WebSocketClosure
    ) -> Response {
        var fields: HTTPFields = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: accept,
        ]
        fields[.secWebSocketProtocol] = subprotocol
        fields.append(contentsOf: headers)
        let logger = context.logger
        let body = ResponseBody { writer in
            let outgoing = OutgoingFrames()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let socket = WebSocket(outgoing: outgoing)
                    let presence = Presence()
                    let messages = WebSocketMessages(
                        body: request.body, socket: socket, limits: limits, presence: presence, memory: memory,
                        idle: idle)
                    let closure = await Self.closure(
                        of: socket, messages, presence, limits.silence, clock, end, logger, serve)
                    outgoing.finish(closure?.frame)
                }
                do {
                    while let bytes = await outgoing.next() { try await writer.write(bytes) }
                    // Closed, perhaps by somebody else than whoever serves it.
                    group.cancelAll()
                } catch {
                    // The client has gone. Whoever serves it learns so by what he sends or waits for, and may still have
                    // something to do with what was said.
                    outgoing.finish()
                }
                try await group.waitForAll()
            }
            try await writer.finish(nil)
        }
        return Response(status: .switchingProtocols, headers: fields, body: body)
    }

    /// Serves the socket to its end.
    /// - Returns: with what it is closed; nil when there is nobody to tell.
    private static func closure(
        of socket: WebSocket, _ messages: WebSocketMessages, _ presence: Presence, _ silence: Duration,
        _ clock: WallClock, _ end: Departure, _ logger: Logger,
        _ serve: @escaping @Sendable (WebSocket, WebSocketMessages) async throws -> WebSocketClosure
    ) async -> WebSocketClosure? {
        do {
            return try await withGracefulShutdownHandler {
                try await end.watched(by: { socket.close(.worldEnded) }) {
                    guard !end.hasHappened else { throw WebSocketClosure.worldEnded }
                    return try await withThrowingTaskGroup(of: WebSocketClosure?.self) { group in
                        group.addTask { try await serve(socket, messages) }
                        group.addTask {
                            try await presence.watch(socket, silence, clock)
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

/// When something was last heard of a client.
final class Presence: Sendable {
    private let count = LockedValue(0)
    private let isAwaited = LockedValue(false)

    func heard() { count.withLock { $0 += 1 } }

    /// Whether the client is waited for, whose silence counts meanwhile. While something else is it cannot be heard.
    func isAwaited(_ value: Bool) { isAwaited.withLock { $0 = value } }

    /// Asks a client that says nothing whether it is there.
    /// - Throws: ``WebSocketClosure`` when it is not, `CancellationError`.
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

/// What a client says, one after the other, as it is asked for: a client is read no faster than it is understood. Pings
/// are answered on the way.
package final class WebSocketMessages: AsyncSequence, Sendable {
    package typealias Element = WebSocketMessage

    private let body: RequestBody
    private let limits: WebSocketUpgrade.Limits
    fileprivate let socket: WebSocket
    fileprivate let presence: Presence
    fileprivate let memory: MemoryShare
    fileprivate let idle: IdleWatch
    fileprivate let ended = LockedValue(false)

    init(
        body: RequestBody, socket: WebSocket, limits: WebSocketUpgrade.Limits, presence: Presence,
        memory: MemoryShare, idle: IdleWatch
    ) {
        self.body = body
        self.socket = socket
        self.limits = limits
        self.presence = presence
        self.memory = memory
        self.idle = idle
    }

    /// Whether the client has closed, or is gone.
    var hasEnded: Bool { ended.withLock { $0 } }

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

        /// The next text or bytes; nil when the client is gone. The one before it is held no more.
        /// - Throws: ``WebSocketClosure`` with which the client's own close is answered, or what it did wrong.
        package mutating func next() async throws -> WebSocketMessage? {
            messages.memory.hold(decoder.heldBytes)
            while true {
                while let message = try await decoded() {
                    messages.presence.heard()
                    switch message {
                    case .ping(let payload): try await messages.socket.send(.pong, payload)
                    case .pong: break
                    case .close(let code): throw WebSocketClosure(code ?? 1000)
                    case .text, .binary: return message
                    }
                }
                guard let buffer = try await received() else {
                    messages.ended.withLock { $0 = true }
                    return nil
                }
                try await hold(buffer.readableBytes)
                decoder.receive(buffer)
            }
        }

        /// A large message is unmasked and looked at elsewhere than on the event loop.
        private mutating func decoded() async throws -> WebSocketMessage? {
            guard decoder.isWhole, decoder.heldBytes > LongWork.threshold else { return try decoder.next() }
            return try await LongWork.run(bytes: decoder.heldBytes) { try decoder.next() }
        }

        /// A client is not read while there is no room for what it sends, and cannot be blamed for that.
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

extension HTTPFields {
    /// Whether they ask to go on as a WebSocket.
    var wantsWebSocket: Bool {
        self[.upgrade]?.lowercased() == "websocket"
            && self[values: .connection].contains { value in
                value.lowercased().split(separator: ",").contains {
                    $0.trimmingCharacters(in: .whitespaces) == "upgrade"
                }
            }
    }
}
