import Basics
import Logging
import NIOCore
import NIOHTTP1

/// Installs the handlers of an HTTP/1 connection, between its bytes and its requests.
struct HTTP1Pipeline: Sendable {
    let limits: ConnectionLimits
    /// Whether the connection is encrypted; sets the scheme of its requests.
    let isSecure: Bool
    let logger: Logger

    func install(in channel: any Channel) throws -> RequestStream {
        var parsing = NIOHTTPDecoderLimitConfiguration()
        parsing.maxHeaderFieldSize = limits.headSize
        parsing.maxHeaderListSize = limits.headSize
        parsing.maxHeaderFieldCount = limits.fieldCount
        let guardHandler = ConnectionGuard(limits: limits, isSecure: isSecure)
        let requests = RequestStream(channel, guardHandler)
        try channel.pipeline.syncOperations.addHandlers([
            HTTPResponseEncoder(),
            // After TLS, so that the counter sees the parser's bytes.
            ByteCounter(guardHandler, tellsOfTLS: !isSecure, logger: logger),
            // Bytes behind a request that switches protocols are the first of the other protocol.
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: parsing)),
            guardHandler,
            requests,
        ])
        try channel.tune(limits)
        return requests
    }
}

extension Channel {
    /// Sets the size limits of reads and writes.
    func tune(_ limits: ConnectionLimits) throws {
        try syncOptions?.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: limits.readSize)
        )
        try syncOptions?.setOption(.socketOption(.so_sndbuf), value: SocketOptionValue(limits.sendBufferSize))
    }
}

/// Reports received bytes to the guard before the parser, and logs TLS on a plain port.
///
/// Input that the guard no longer reads is dropped here.
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
        if !guardHandler.ignoresInput { context.fireChannelRead(wrapInboundOut(bytes.compacted)) }
        guardHandler.parsed(bytes)
    }

    func read(context: ChannelHandlerContext) {
        guardHandler.isAskingForBytes()
        context.read()
    }
}
