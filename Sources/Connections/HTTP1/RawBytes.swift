import NIOCore
import NIOHTTP1

/// Replaces the HTTP codec after a switch to WebSocket: passes bytes as body parts of the request and of its answer.
///
/// After the last bytes of the answer it waits for the client's close frame, and for its end of the connection, before
/// it closes the connection (RFC 6455, section 7.1.1). A proxy that has bytes of the client left when the server closes
/// resets the client's connection, and the client does not read the server's close frame.
final class RawBytes: ChannelDuplexHandler {
    /// Largest read, in bytes.
    ///
    /// Up to fourteen reads wait outside the memory budget while that is used up. With the 32 KB of bodies, a thousand
    /// sockets would hold half a gigabyte.
    private static let readSize = 8 * 1024

    typealias InboundIn = ByteBuffer
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = ByteBuffer

    private let limits: ConnectionLimits
    /// Whether the last bytes of the client end with a close frame.
    private var hasClientClosed = false
    /// Whether the last bytes of the answer are written, and the rest of the client's bytes is dropped.
    private var isLeaving = false

    init(_ limits: ConnectionLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
        // A closed channel has no options.
        try? context.channel.syncOptions?.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: Self.readSize))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        hasClientClosed = bytes.endsWithCloseFrame
        guard isLeaving else { return context.fireChannelRead(wrapInboundOut(.body(bytes))) }
        if hasClientClosed { leave(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isLeaving { context.read() } else { context.fireChannelReadComplete() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            hasClientClosed = true
            if isLeaving { leave(context) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(.byteBuffer(let bytes)): context.write(wrapOutboundOut(bytes), promise: promise)
        case .head, .body: context.write(wrapOutboundOut(ByteBuffer()), promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { _ in
                self.isLeaving = true
                guard !self.hasClientClosed else { return self.leave(context) }
                context.read()
                context.schedule(after: self.limits.drainTime) { self.leave($0) }
            }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
        }
    }

    private func leave(_ context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        context.schedule(after: limits.drainTime) { $0.close(promise: nil) }
    }
}

extension ByteBuffer {
    /// Whether the last bytes look like a client's close frame: at most 125 masked bytes, which begin with a code (RFC
    /// 6455, section 5.5.1). One in ten thousand pieces of audio does too, and then the connection closes earlier.
    fileprivate var endsWithCloseFrame: Bool {
        withUnsafeReadableBytes { bytes in
            (6...131).contains { length in
                let start = bytes.count - length
                guard start >= 0, bytes[start] == 0x88, bytes[start + 1] == 0x80 | UInt8(length - 6) else {
                    return false
                }
                guard length >= 8 else { return length == 6 }
                let code = (0...1).reduce(0) { $0 << 8 | Int(bytes[start + 6 + $1] ^ bytes[start + 2 + $1]) }
                return (1000...4999).contains(code)
            }
        }
    }
}
