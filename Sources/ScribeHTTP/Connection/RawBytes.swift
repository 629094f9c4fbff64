import NIOCore
import NIOHTTP1

/// Stands where the HTTP parser was: bytes are the body of a request that goes on, and of its answer.
final class RawBytes: ChannelDuplexHandler {
    /// The largest read, in bytes. Up to fourteen reads wait outside of the memory budget while it has no room: at the 32 KB of
    /// bodies a thousand sockets would hold half a gigabyte.
    private static let readSize = 8 * 1024

    typealias InboundIn = ByteBuffer
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = ByteBuffer

    func handlerAdded(context: ChannelHandlerContext) {
        // A channel that is gone has no options.
        try? context.channel.syncOptions?.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: Self.readSize))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(.body(unwrapInboundIn(data))))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(.byteBuffer(let bytes)): context.write(wrapOutboundOut(bytes), promise: promise)
        case .head, .body, .end: context.write(wrapOutboundOut(ByteBuffer()), promise: promise)
        }
    }
}
