import HummingbirdCore
package import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import ScribeRuntime

/// Makes a connection one of HTTP/1, between its bytes and Hummingbird.
///
/// Hummingbird's own `HTTP1Channel.setup` has no place for a guard before its codec, and its parser drops the bytes behind a
/// request that goes on in another protocol; this one hands them on.
package struct HTTP1Pipeline: Sendable {
    private let limits: ConnectionLimits
    private let isSecure: Bool
    private let logger: Logger

    /// - Parameter isSecure: whether the connection is encrypted, which its requests then say.
    package init(limits: ConnectionLimits, isSecure: Bool, logger: Logger) {
        self.limits = limits
        self.isSecure = isSecure
        self.logger = logger
    }

    func install(in channel: any Channel, logger: Logger) throws -> HTTP1Channel.Value {
        var parsing = NIOHTTPDecoderLimitConfiguration()
        parsing.maxHeaderFieldSize = limits.headSize
        parsing.maxHeaderListSize = limits.headSize
        parsing.maxHeaderFieldCount = limits.fieldCount
        let guardHandler = ConnectionGuard(limits: limits, departure: Departure())
        try channel.pipeline.syncOperations.addHandlers([
            HTTPResponseEncoder(),
            // Behind encryption, where there is any: what counts is what the parser gets.
            ByteCounter(guardHandler, tellsOfTLS: !isSecure, logger: self.logger),
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: parsing)),
            guardHandler,
            HTTP1ToHTTPServerCodec(secure: isSecure),
            HTTPConnectionStateHandler(idleTimeout: limits.idleTime, logger: logger),
        ])
        try channel.tune(limits)
        return try HTTP1Channel.Value(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }
}

extension Channel {
    /// How much is taken from and given to the system at once.
    func tune(_ limits: ConnectionLimits) throws {
        try syncOptions?.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: limits.readSize)
        )
        try syncOptions?.setOption(.socketOption(.so_sndbuf), value: SocketOptionValue(limits.sendBufferSize))
    }
}

/// Tells the guard of the bytes that the parser has not made anything of yet, and the log of those that it never will. What
/// nobody reads any more ends here.
private final class ByteCounter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let guardHandler: ConnectionGuard
    private let logger: Logger
    private var isFirst: Bool

    init(_ guardHandler: ConnectionGuard, tellsOfTLS: Bool, logger: Logger) {
        self.guardHandler = guardHandler
        isFirst = tellsOfTLS
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if isFirst, bytes.beginsLikeTLS {
            logger.notice(
                "a client spoke TLS to the port for plain HTTP; use http there, or start with --tls and use that port",
                metadata: ["address": "\(context.channel.remoteAddress?.ipAddress ?? "")"])
        }
        isFirst = false
        guardHandler.received(bytes.readableBytes)
        if !guardHandler.isDeaf { context.fireChannelRead(wrapInboundOut(bytes.compacted)) }
    }

    func read(context: ChannelHandlerContext) {
        guardHandler.isAskingForBytes()
        context.read()
    }
}
