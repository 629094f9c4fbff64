import NIOCore
import NIOHTTP1

/// Stands where the HTTP parser was: bytes are the body of a request that goes on, and of its answer.
final class RawBytes: ChannelDuplexHandler {
    /// How much is taken from the socket at once, in bytes. Up to fourteen such reads wait, outside of the memory budget, while
    /// there is no room in it: with those of bodies, a thousand sockets would have half a gigabyte.
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
