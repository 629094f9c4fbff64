package import Basics
import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
package import NIOSSL
import NIOTLS

/// Serves a TLS connection over HTTP/1 or HTTP/2, as negotiated by ALPN.
package struct SecureChannel: ServerChildChannel {
    fileprivate typealias Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<RequestStream>

    fileprivate enum Negotiated {
        case http1(RequestStream)
        case http2(Streams)
    }

    package struct Value: ServerChildChannelValue {
        fileprivate let negotiated: EventLoopFuture<Negotiated>
        package let channel: any Channel
    }

    private let respond: Responder
    private let pipeline: HTTP1Pipeline
    private let limits: ConnectionLimits
    /// Each stream may hold a file, as an HTTP/1 connection may.
    private let openStreams: Places
    private let memory: MemoryBudget
    private let connections: any ConnectionCounter
    private let encryption: @Sendable () -> NIOSSLContext
    private let logger: Logger

    /// - Parameters:
    ///   - streamLimit: Most open streams, over all connections.
    ///   - memory: While it is used up, windows of HTTP/2 connections are not renewed.
    ///   - encryption: TLS context for the next connection.
    package init(
        limits: ConnectionLimits, streamLimit: Int, memory: MemoryBudget, connections: any ConnectionCounter,
        logger: Logger, encryption: @escaping @Sendable () -> NIOSSLContext, respond: @escaping Responder
    ) {
        self.respond = respond
        pipeline = HTTP1Pipeline(limits: limits, isSecure: true, logger: logger)
        self.connections = connections
        self.limits = limits
        openStreams = Places(limit: streamLimit)
        self.memory = memory
        self.logger = logger
        self.encryption = encryption
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        connections.count(channel)
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try TLSHandshake(limits: limits, logger: self.logger)
                .install(NIOSSLServerHandler(context: encryption()), in: pipeline)
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated> { result in
                switch result {
                case .negotiated("h2"):
                    channel.eventLoop.makeCompletedFuture { .http2(try streams(of: channel)) }
                case .negotiated, .fallback:
                    channel.eventLoop.makeCompletedFuture {
                        .http1(try self.pipeline.install(in: channel))
                    }
                }
            }
            try pipeline.addHandler(negotiation)
            return Value(negotiated: negotiation.protocolNegotiationResult, channel: channel)
        }
    }

    private func streams(of channel: any Channel) throws -> Streams {
        let pipeline = channel.pipeline.syncOperations
        let management = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: channel.eventLoop,
            configuration: .init(
                maxIdleTime: TimeAmount(limits.idleTime), maxAge: nil, maxGraceTime: TimeAmount(limits.idleTime),
                keepalive: nil))
        let window = ConnectionWindow()
        let frames = SmallFrameLimiter(window: window)
        try pipeline.addHandler(frames)
        let watch = HTTP2ConnectionGuard(limits: limits, frames: frames, window: window, memory: memory)
        let boundWatch = NIOLoopBound(watch, eventLoop: channel.eventLoop)
        let delegate = StreamsDelegate(watch: boundWatch, management: management.http2StreamDelegate)
        let streams: Streams = try pipeline.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: delegate, frameDelegate: watch,
            configuration: limits.http2
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let pipeline = stream.pipeline.syncOperations
                let hasRoom = openStreams.take()
                if hasRoom { stream.closeFuture.whenComplete { _ in openStreams.give() } }
                let guardHandler = StreamGuard(limits: limits, hasRoom: hasRoom)
                let requests = RequestStream(stream, guardHandler)
                try pipeline.addHandler(StreamReadReporter(watch: boundWatch.value))
                try pipeline.addHandlers([
                    HTTP2FramePayloadToHTTPServerCodec(),
                    guardHandler,
                    requests,
                ])
                return requests
            }
        }
        try pipeline.addHandlers([management, watch])
        // The handler starts its timers on `channelActive`, which has already fired for this connection.
        management.channelActive(context: try pipeline.context(handler: management))
        try channel.tune(limits)
        return streams
    }

    package func handle(value: Value, logger: Logger) async {
        EventLoopOffload.requireEventLoop()
        await withTaskCancellationHandler {
            await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
                await serve(value, logger)
            }
        } onCancel: {
            // A client that ignores GOAWAY must not delay the end of the process.
            value.channel.triggerUserOutboundEvent(HangUp(), promise: nil)
        }
    }

    private func serve(_ value: Value, _ logger: Logger) async {
        do {
            switch try await value.negotiated.get() {
            case .http1(let requests): await requests.serve(respond, logger)
            case .http2(let streams):
                try await withThrowingDiscardingTaskGroup { group in
                    for try await stream in streams.inbound {
                        group.addTask { await stream.serve(respond, logger) }
                    }
                }
            }
        } catch {
            // The cause was logged where it occurred.
            logger.trace("a connection has ended", metadata: ["error": "\(error)"])
        }
        try? await value.channel.close()
    }
}

extension ConnectionLimits {
    /// HTTP/2 settings of a connection and its streams.
    ///
    /// NIOHTTP2's own limits stay: they end connections that flood with resets, settings, pings or endless heads.
    var http2: NIOHTTP2Handler.Configuration {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streamCount),
            HTTP2Setting(parameter: .maxHeaderListSize, value: headSize),
        ]
        // ``ConnectionWindow`` renews the connection's window instead.
        configuration.connection.targetWindowSize = 0
        configuration.stream.targetWindowSize = ConnectionWindow.streamSize
        configuration.stream.outboundBufferSizeHighWatermark = 64 * 1024
        configuration.stream.outboundBufferSizeLowWatermark = 32 * 1024
        return configuration
    }
}
