package import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
package import ScribeRuntime

/// Puts the guard where it belongs: Hummingbird adds further handlers only behind its own.
package final class ConnectionGuardInstaller: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = NIOAny

    private let limits: ConnectionLimits
    private let metrics: Metrics

    package init(limits: ConnectionLimits, metrics: Metrics) {
        self.limits = limits
        self.metrics = metrics
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        let guardHandler = ConnectionGuard(limits: limits, departure: Departure())
        do {
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(guardHandler, position: .before(codec))
            // Behind encryption, where there is any: what counts is what the parser gets.
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(ByteCounter(guardHandler), position: .before(decoder))
            try context.channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: limits.readSize)
            )
            try context.channel.syncOptions?.setOption(
                .socketOption(.so_sndbuf), value: SocketOptionValue(limits.sendBufferSize))
            metrics.connectionOpened()
            context.channel.closeFuture.whenComplete { [metrics] _ in metrics.connectionClosed() }
        } catch {
            // Without its guard a connection is not to be served.
            context.close(promise: nil)
        }
    }
}

/// Tells the guard of the bytes that the parser has not made anything of yet.
private final class ByteCounter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let guardHandler: ConnectionGuard

    init(_ guardHandler: ConnectionGuard) { self.guardHandler = guardHandler }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guardHandler.received(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guardHandler.isAskingForBytes()
        context.read()
    }
}
