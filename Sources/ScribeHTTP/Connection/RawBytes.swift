import NIOCore
import NIOHTTP1

/// Replaces the HTTP codec after a switch of protocols: passes bytes as body parts of the request and of its answer.
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

    func handlerAdded(context: ChannelHandlerContext) {
        // A closed channel has no options.
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
