package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
package import NIOSSL
import NIOTLS
package import ScribeRuntime

/// An encrypted connection, of HTTP/1 or HTTP/2 as the two ends agree.
package struct SecureChannel: ServerChildChannel {
    fileprivate typealias Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<HTTP1Channel.Value>

    fileprivate enum Negotiated {
        case http1(HTTP1Channel.Value)
        case http2(Streams)
    }

    package struct Value: ServerChildChannelValue {
        fileprivate let negotiated: EventLoopFuture<Negotiated>
        package let channel: any Channel
    }

    private let base: HTTP1Channel
    private let limits: ConnectionLimits
    private let metrics: Metrics
    private let encryption: @Sendable () -> NIOSSLContext
    private let logger: Logger

    /// - Parameters:
    ///   - base: serves a connection of HTTP/1, and each stream of one of HTTP/2.
    ///   - encryption: what the next connection is encrypted with.
    package init(
        base: HTTP1Channel, limits: ConnectionLimits, metrics: Metrics, logger: Logger,
        encryption: @escaping @Sendable () -> NIOSSLContext
    ) {
        self.base = base
        self.metrics = metrics
        self.limits = limits
        self.logger = logger
        self.encryption = encryption
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        metrics.count(channel)
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try Handshake(limits: limits, logger: self.logger)
                .install(NIOSSLServerHandler(context: encryption()), in: pipeline)
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated> { result in
                switch result {
                case .negotiated("h2"):
                    channel.eventLoop.makeCompletedFuture { .http2(try streams(of: channel, logger)) }
                case .negotiated, .fallback:
                    base.setup(channel: channel, logger: logger).map { .http1($0) }
                }
            }
            try pipeline.addHandler(negotiation)
            return Value(negotiated: negotiation.protocolNegotiationResult, channel: channel)
        }
    }

    private func streams(of channel: any Channel, _ logger: Logger) throws -> Streams {
        let pipeline = channel.pipeline.syncOperations
        let management = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: channel.eventLoop,
            configuration: .init(
                maxIdleTime: TimeAmount(limits.idleTime), maxAge: nil, maxGraceTime: TimeAmount(limits.idleTime),
                keepalive: nil))
        let streams: Streams = try pipeline.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: management.http2StreamDelegate, configuration: limits.http2
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let pipeline = stream.pipeline.syncOperations
                try pipeline.addHandlers([
                    HTTP2FramePayloadToHTTPServerCodec(), StreamGuard(limits: limits, departure: Departure()),
                ])
                return try HTTP1Channel.Value(wrappingChannelSynchronously: stream)
            }
        }
        try pipeline.addHandlers([management, FirstStream(limits: limits)])
        // It waits for the connection to begin, which it has: its timers would never start.
        management.channelActive(context: try pipeline.context(handler: management))
        try channel.tune(limits)
        return streams
    }

    package func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            do {
                switch try await value.negotiated.get() {
                case .http1(let connection): await base.handle(value: connection, logger: logger)
                case .http2(let streams):
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await stream in streams.inbound {
                            group.addTask { await base.handle(value: stream, logger: logger) }
                        }
                    }
                }
            } catch {
                // What went wrong was told where it did.
                logger.trace("a connection has ended", metadata: ["error": "\(error)"])
            }
            try? await value.channel.close()
        }
    }
}

/// Ends a connection on which nothing is asked for in time, and one on which the other end breaks the rules.
private final class FirstStream: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let limits: ConnectionLimits
    private var timer: Scheduled<Void>?

    init(limits: ConnectionLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.requestTime)) {
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is NIOHTTP2StreamCreatedEvent { timer?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension ConnectionLimits {
    /// Of a connection of HTTP/2 and its streams. Resets, settings and pings in floods, and heads that go on and on, end
    /// the connection; NIOHTTP2's own limits for these are kept.
    var http2: NIOHTTP2Handler.Configuration {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streamCount),
            HTTP2Setting(parameter: .maxHeaderListSize, value: headSize),
        ]
        configuration.stream.outboundBufferSizeHighWatermark = 64 * 1024
        configuration.stream.outboundBufferSizeLowWatermark = 32 * 1024
        return configuration
    }
}
