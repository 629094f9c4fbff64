import Basics
import Foundation
import NIOCore
import NIOPosix
import Testing

/// A WebSocket by hand: what goes over the wire is what a test writes.
package final class TestSocket: Sendable {
    /// What has come, and who waits for more.
    private final class Inbox: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private struct State {
            var received = ByteBuffer()
            var hasEnded = false
            /// How often something came.
            var count = 0
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let state = LockedValue(State())

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            wake { $0.received.writeImmutableBuffer(self.unwrapInboundIn(data)) }
        }

        func channelInactive(context: ChannelHandlerContext) { wake { $0.hasEnded = true } }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func wake(_ change: (inout State) -> Void) {
            let waiter = state.withLock { state in
                change(&state)
                state.count += 1
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }

        /// Takes something out of what has come, as soon as it is there; nil when it never will be.
        func take<Value: Sendable>(_ read: (inout ByteBuffer) -> Value?) async -> Value? {
            while true {
                let (value, hasEnded, count) = state.withLock { (read(&$0.received), $0.hasEnded, $0.count) }
                if value != nil || hasEnded { return value }
                await withCheckedContinuation { continuation in
                    let isThere = state.withLock { state in
                        if state.count != count { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isThere { continuation.resume() }
                }
            }
        }
    }

    private let channel: any Channel
    private let inbox: Inbox

    private init(_ channel: any Channel, _ inbox: Inbox) {
        self.channel = channel
        self.inbox = inbox
    }

    /// Opens one, and closes the connection in the end.
    /// - Parameter headers: beside those of the upgrade.
    package static func open<Value: Sendable>(
        _ path: String, port: Int, _ headers: [(String, String)],
        _ body: @escaping @Sendable (TestSocket) async throws -> Value
    ) async throws -> Value {
        let inbox = Inbox()
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { $0.pipeline.addHandler(inbox) }.connect(host: "127.0.0.1", port: port).get()
        let socket = TestSocket(channel, inbox)
        let lines =
            [
                "GET \(path) HTTP/1.1", "host: localhost", "connection: Upgrade", "upgrade: websocket",
                "sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
            ] + headers.map { "\($0): \($1)" }
        do {
            try await channel.writeAndFlush(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
            let head = await socket.head() ?? ""
            try #require(head.hasPrefix("HTTP/1.1 101"), "\(head)")
            let value = try await body(socket)
            try? await channel.close()
            return value
        } catch {
            try? await channel.close()
            throw error
        }
    }

    package func send(_ text: String) async throws { try await send(opcode: 1, Data(text.utf8)) }

    package func send(opcode: UInt8, _ payload: Data) async throws {
        var frame = ByteBuffer(bytes: [0x80 | opcode])
        if payload.count < 126 {
            frame.writeInteger(0x80 | UInt8(payload.count))
        } else if payload.count < 65_536 {
            frame.writeInteger(UInt8(0x80 | 126))
            frame.writeInteger(UInt16(payload.count))
        } else {
            frame.writeInteger(UInt8(0x80 | 127))
            frame.writeInteger(UInt64(payload.count))
        }
        // A mask of zeros masks nothing.
        frame.writeInteger(UInt32(0))
        frame.writeBytes(payload)
        try await channel.writeAndFlush(frame)
    }

    /// What the server says until it closes, and with which code; nil when it only hangs up.
    package func end() async throws -> (texts: [String], code: UInt16?) {
        var texts: [String] = []
        while let (opcode, payload) = await frame() {
            switch opcode {
            case 1: texts.append(String(buffer: payload))
            case 8: return (texts, payload.getInteger(at: payload.readerIndex))
            case 9: try await send(opcode: 10, Data(payload.readableBytesView))
            default: break
            }
        }
        return (texts, nil)
    }

    /// Returns when all that was sent before has been dealt with.
    package func settle() async throws {
        try await send(opcode: 9, Data("now".utf8))
        while let (opcode, _) = await frame(), opcode != 10 {}
    }

    private func head() async -> String? {
        await inbox.take { buffer in
            let text = String(buffer: buffer)
            guard let end = text.range(of: "\r\n\r\n") else { return nil }
            buffer.moveReaderIndex(forwardBy: text[..<end.upperBound].utf8.count)
            return String(text[..<end.lowerBound])
        }
    }

    /// A frame of the server's; nil when it has hung up.
    private func frame() async -> (opcode: UInt8, payload: ByteBuffer)? {
        await inbox.take { buffer in
            var rest = buffer
            guard let first = rest.readInteger(as: UInt8.self), let short = rest.readInteger(as: UInt8.self) else {
                return nil
            }
            var length = Int(short)
            if short == 126 {
                guard let long = rest.readInteger(as: UInt16.self) else { return nil }
                length = Int(long)
            }
            guard let payload = rest.readSlice(length: length) else { return nil }
            buffer = rest
            return (first & 15, payload)
        }
    }
}
