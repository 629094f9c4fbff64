package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
package import NIOSSL
import NIOTLS
import ScribeDomain
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
    private let pipeline: HTTP1Pipeline
    private let limits: ConnectionLimits
    private let openStreams: OpenStreams
    private let metrics: Metrics
    private let encryption: @Sendable () -> NIOSSLContext
    private let logger: Logger

    /// - Parameters:
    ///   - base: serves a connection of HTTP/1, and each stream of one of HTTP/2.
    ///   - streamLimit: how many streams may be open at a time, of all connections.
    ///   - encryption: what the next connection is encrypted with.
    package init(
        base: HTTP1Channel, limits: ConnectionLimits, streamLimit: Int, metrics: Metrics, logger: Logger,
        encryption: @escaping @Sendable () -> NIOSSLContext
    ) {
        self.base = base
        pipeline = HTTP1Pipeline(limits: limits, isSecure: true, logger: logger)
        self.metrics = metrics
        self.limits = limits
        openStreams = OpenStreams(limit: streamLimit)
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
                    channel.eventLoop.makeCompletedFuture {
                        .http1(try self.pipeline.install(in: channel, logger: logger))
                    }
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
        let frames = FrameWatch()
        try pipeline.addHandler(frames)
        let watch = StreamsWatch(limits: limits, frames: frames)
        let delegate = StreamsDelegate(
            watch: NIOLoopBound(watch, eventLoop: channel.eventLoop), management: management.http2StreamDelegate)
        let streams: Streams = try pipeline.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: delegate, frameDelegate: watch,
            configuration: limits.http2
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let pipeline = stream.pipeline.syncOperations
                let hasRoom = openStreams.take()
                if hasRoom { stream.closeFuture.whenComplete { _ in openStreams.give() } }
                try pipeline.addHandlers([
                    HTTP2FramePayloadToHTTPServerCodec(),
                    StreamGuard(limits: limits, departure: Departure(), hasRoom: hasRoom),
                ])
                return try HTTP1Channel.Value(wrappingChannelSynchronously: stream)
            }
        }
        try pipeline.addHandlers([management, watch])
        // It waits for the connection to begin, which it has: its timers would never start.
        management.channelActive(context: try pipeline.context(handler: management))
        try channel.tune(limits)
        return streams
    }

    package func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
                await serve(value, logger)
            }
        } onCancel: {
            // A client that takes no goodbye must not hold up the end of the process.
            value.channel.triggerUserOutboundEvent(HangUp(), promise: nil)
        }
    }

    private func serve(_ value: Value, _ logger: Logger) async {
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

/// Ends a connection on which nothing is asked for in time, and one on which the other end breaks the rules: what is wrong
/// with a stream is that stream's end only.
private final class StreamsWatch: ChannelInboundHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = HTTP2Frame

    private let limits: ConnectionLimits
    private let frames: FrameWatch
    private var context: ChannelHandlerContext?
    private var firstTimer: Scheduled<Void>?
    private var goodbyeTimer: Scheduled<Void>?
    private var answerTimer: Scheduled<Void>?
    private var openStreams = 0
    private var isBroken = false

    init(limits: ConnectionLimits, frames: FrameWatch) {
        self.limits = limits
        self.frames = frames
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        firstTimer = close(after: TimeAmount(limits.requestTime))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for timer in [firstTimer, goodbyeTimer, answerTimer] { timer?.cancel() }
        self.context = nil
    }

    func streamBegan() {
        firstTimer?.cancel()
        openStreams += 1
    }

    func streamEnded() { openStreams -= 1 }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Nobody is there any more to answer to: HTTP/2 knows no half of a connection.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// A connection of which the other end takes nothing would keep the answers of all its streams.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        answerTimer?.cancel()
        answerTimer = context.channel.isWritable ? nil : close(after: limits.answerWindow)
        context.fireChannelWritabilityChanged()
    }

    private func close(after time: TimeAmount) -> Scheduled<Void>? {
        context?.eventLoop.assumeIsolated().scheduleTask(in: time) { self.hangUp() }
    }

    private func hangUp() { context?.channel.triggerUserOutboundEvent(HangUp(), promise: nil) }

    /// Whoever does not answer a goodbye is left to himself when his last stream has ended.
    private func leave() {
        guard openStreams <= 0 else {
            goodbyeTimer = context?.eventLoop.assumeIsolated().scheduleTask(in: limits.drainTime) { self.leave() }
            return
        }
        hangUp()
    }

    func wroteFrame(_ frame: HTTP2Frame) {
        if case .data(let data) = frame.payload { frames.sentData(data.data.readableBytes) }
        guard case .goAway(_, let code, _) = frame.payload else { return }
        if code != .noError { isBroken = true }
        guard goodbyeTimer == nil else { return }
        goodbyeTimer = context?.eventLoop.assumeIsolated().scheduleTask(in: limits.drainTime) { self.leave() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isBroken { context.close(promise: nil) }
    }
}

/// How many streams are open, of all connections: each may hold a file, as a connection of HTTP/1 may.
private final class OpenStreams: Sendable {
    private let limit: Int
    private let count = LockedValue(0)

    init(limit: Int) { self.limit = limit }

    func take() -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    func give() { count.withLock { $0 -= 1 } }
}

/// Tells both of them of streams.
private struct StreamsDelegate: NIOHTTP2StreamDelegate {
    let watch: NIOLoopBound<StreamsWatch>
    let management: any NIOHTTP2StreamDelegate

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
        watch.value.streamBegan()
        management.streamCreated(id, channel: channel)
    }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
        watch.value.streamEnded()
        management.streamClosed(id, channel: channel)
    }
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
