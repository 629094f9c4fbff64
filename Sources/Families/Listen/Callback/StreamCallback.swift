import Basics
import Connections
import Foundation
import NIOCore
import NIOWebSocket
import Outbound
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Sends the messages of a stream to the address that its client named: each as a request of its own, which is repeated
/// until it arrives, or all over one WebSocket, whose loss ends the stream (Deepgram: callback).
///
/// The client's own socket has the messages too, which the vendor sends there on request alone.
struct StreamCallback: Sendable {
    let callback: ListenCallback
    /// The request's id.
    let request: String
    let runtime: Runtime
    let business: BusinessID

    /// Most bytes on their way to a slow receiver, some ten messages. A thousand streams may each hold as much, outside
    /// of the memory budget.
    private static let maxOutgoing = 32 << 10
    /// Longest wait for the receiver's close, after the last message.
    private static let closePatience = TimeAmount.seconds(2)

    /// Close of a stream whose receiver is gone.
    static let lost = WebSocketClosure(1011, "The receiver of the callback was lost")

    /// Takes one message of the stream.
    typealias Sink = @Sendable (JSON) async throws -> Void

    /// Runs `body` with the receiver.
    /// - Parameters:
    ///   - idle: Timeout of the client's socket, which does not count while the receiver's opens.
    ///   - close: Ends the client's socket.
    /// - Throws: ``WebSocketClosure`` if the receiver cannot be reached, and errors of `body`.
    func withReceiver<Value: Sendable>(
        _ idle: IdleTimeout, close: @escaping @Sendable (WebSocketClosure) -> Void,
        _ body: (@escaping Sink) async throws -> Value
    ) async throws -> Value {
        guard callback.isSocket else { return try await body(post) }
        let headers = callback.headers.filter { $0.key != "Content-Type" }.map { ($0.key, $0.value) }
        let opened: (socket: OutboundSocket, channel: OutboundSocket.Channel)
        do {
            opened = try await idle.whileBusy {
                try await runtime.outbound.openSocket(
                    to: callback.address, headers, within: ListenCallback.patience, for: business,
                    identifiers: runtime.identifiers.random)
            }
        } catch is OutboundError {
            throw Self.lost
        }
        return try await withSocket(opened.socket, opened.channel, close: close, body)
    }

    /// Stores a message for delivery, which is repeated until it arrives.
    @Sendable private func post(_ message: JSON) async throws {
        let message = Callback(
            address: callback.address.url, method: callback.method, request: request, headers: callback.headers,
            body: await EventLoopOffload.run(bytes: .max) { Data(message.bytes) })
        do {
            try await runtime.webhooks.sendCallback(message, at: callback.address, of: business)
        } catch ScribeError.storageQuotaExceeded {
            throw Self.lost
        }
    }

    private func withSocket<Value: Sendable>(
        _ socket: OutboundSocket, _ channel: OutboundSocket.Channel,
        close: @escaping @Sendable (WebSocketClosure) -> Void, _ body: (@escaping Sink) async throws -> Value
    ) async throws -> Value {
        let outgoing = BoundedQueue<NIOWebSocket.WebSocketFrame>(limit: Self.maxOutgoing)
        /// Whether the last message was sent: the receiver may be gone then.
        let isComplete = LockedValue(false)
        let clock = runtime.clock.wall
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await Self.carry(outgoing, over: channel, socket)
                guard !isComplete.withLock({ $0 }) else { return }
                await outgoing.finish(throwing: Self.lost)
                close(Self.lost)
            }
            do {
                let value = try await body { message in
                    let text = await EventLoopOffload.run(bytes: .max) { ByteBuffer(message) }
                    let frame = socket.frame(.text, text)
                    // A receiver that does not read must not hold the client's stream.
                    try await withTimeLimit(ListenCallback.patience, clock: clock, failure: Self.lost) {
                        try await outgoing.add(frame, weight: text.readableBytes)
                    }
                }
                isComplete.withLock { $0 = true }
                await outgoing.finish()
                let late = channel.channel.eventLoop.scheduleTask(in: Self.closePatience) {
                    channel.channel.close(promise: nil)
                }
                try await group.waitForAll()
                late.cancel()
                return value
            } catch {
                isComplete.withLock { $0 = true }
                await outgoing.finish()
                channel.channel.close(promise: nil)
                group.cancelAll()
                throw error
            }
        }
    }

    /// Sends the frames, and a close frame after the last. Returns when either side has ended the socket.
    private static func carry(
        _ outgoing: BoundedQueue<NIOWebSocket.WebSocketFrame>, over channel: OutboundSocket.Channel,
        _ socket: OutboundSocket
    ) async {
        try? await channel.executeThenClose { inbound, outbound in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while let frame = await outgoing.next() {
                        guard (try? await outbound.write(frame)) != nil else { return }
                    }
                    var code = ByteBuffer()
                    code.write(webSocketErrorCode: .normalClosure)
                    _ = try? await outbound.write(socket.frame(.connectionClose, code))
                }
                // The receiver answers the close frame, so that what is on its way arrives.
                do {
                    for try await frame in inbound {
                        if frame.opcode == .connectionClose { break }
                        guard frame.opcode == .ping else { continue }
                        try await outbound.write(socket.frame(.pong, frame.unmaskedData))
                    }
                } catch {
                    // The connection is lost.
                }
                await outgoing.finish()
                group.cancelAll()
            }
        }
    }
}
