import HTTPTypes
package import Logging
package import NIOCore
import NIOHTTP1
package import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import ScribeRuntime

/// Puts the guard where it belongs: Hummingbird adds further handlers only behind its own.
package final class ConnectionGuardInstaller: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let limits: ConnectionLimits
    private let isSecure: Bool
    private let logger: Logger

    /// - Parameter isSecure: whether the connection is encrypted, which its requests then say.
    package init(limits: ConnectionLimits, isSecure: Bool, logger: Logger) {
        self.limits = limits
        self.isSecure = isSecure
        self.logger = logger
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        let guardHandler = ConnectionGuard(limits: limits, departure: Departure())
        do {
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(guardHandler, position: .before(codec))
            // Behind encryption, where there is any: what counts is what the parser gets.
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(
                ByteCounter(guardHandler, tellsOfTLS: !isSecure, logger: logger), position: .before(decoder))
            try context.channel.tune(limits)
        } catch {
            // Without its guard a connection is not to be served.
            context.close(promise: nil)
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isSecure, case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        head.scheme = "https"
        context.fireChannelRead(wrapInboundOut(.head(head)))
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

/// Tells the guard of the bytes that the parser has not made anything of yet, and the log of those that it never will.
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
        context.fireChannelRead(wrapInboundOut(bytes.compacted))
    }

    func read(context: ChannelHandlerContext) {
        guardHandler.isAskingForBytes()
        context.read()
    }
}
