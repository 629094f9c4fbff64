import Basics
import NIOCore
import NIOHTTP2

/// Closes HTTP/2 connections without timely requests, and connections that break the protocol.
///
/// An error of one stream ends that stream only.
final class HTTP2ConnectionGuard: ChannelInboundHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let limits: ConnectionLimits
    private let frames: SmallFrameLimiter
    private let window: ConnectionWindow
    private let memory: MemoryBudget
    private var context: ChannelHandlerContext?
    private var firstTimer: Scheduled<Void>?
    private var goodbyeTimer: Scheduled<Void>?
    private var answerTimer: Scheduled<Void>?
    private var memoryTimer: Scheduled<Void>?
    private var openStreams: Set<HTTP2StreamID> = []
    private var isBroken = false

    /// Pause between two checks for free memory.
    private static let memoryPause: TimeAmount = .milliseconds(50)

    init(limits: ConnectionLimits, frames: SmallFrameLimiter, window: ConnectionWindow, memory: MemoryBudget) {
        self.limits = limits
        self.frames = frames
        self.window = window
        self.memory = memory
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        firstTimer = close(after: TimeAmount(limits.requestTime))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for timer in [firstTimer, goodbyeTimer, answerTimer, memoryTimer] { timer?.cancel() }
        self.context = nil
    }

    func streamBegan(_ stream: HTTP2StreamID) {
        firstTimer?.cancel()
        openStreams.insert(stream)
    }

    func streamEnded(_ stream: HTTP2StreamID) {
        openStreams.remove(stream)
        window.end(stream)
        renewWindow()
    }

    func streamWasRead(_ stream: HTTP2StreamID, _ count: Int) {
        window.took(count, of: stream)
        renewWindow()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        window.endAll(but: openStreams)
        renewWindow()
        context.fireChannelReadComplete()
    }

    private func renewWindow() {
        guard let context, context.channel.isActive, memoryTimer == nil, let count = window.renewal else { return }
        guard !memory.isUsedUp else {
            memoryTimer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.memoryPause) {
                self.memoryTimer = nil
                self.renewWindow()
            }
            return
        }
        window.renew(by: count)
        let update = HTTP2Frame(streamID: .rootStream, payload: .windowUpdate(windowSizeIncrement: count))
        context.writeAndFlush(wrapOutboundOut(update), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // HTTP/2 has no half-closed connections, so no answer can reach the client.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Starts the answer timeout. A connection that reads nothing would keep the answers of all its streams.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        answerTimer?.cancel()
        answerTimer = context.channel.isWritable ? nil : close(after: limits.answerWindow)
        context.fireChannelWritabilityChanged()
    }

    private func close(after time: TimeAmount) -> Scheduled<Void>? {
        context?.eventLoop.assumeIsolated().scheduleTask(in: time) { self.hangUp() }
    }

    private func hangUp() { context?.channel.triggerUserOutboundEvent(HangUp(), promise: nil) }

    /// Closes the connection after GOAWAY once its last stream has ended, for clients that ignore GOAWAY.
    private func leave() {
        guard openStreams.isEmpty else {
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

/// Reports the bytes that a stream's handler has read.
final class StreamReadReporter: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private let watch: HTTP2ConnectionGuard
    private var stream: HTTP2StreamID?

    init(watch: HTTP2ConnectionGuard) { self.watch = watch }

    func handlerAdded(context: ChannelHandlerContext) {
        stream = try? context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .data(let frame) = unwrapInboundIn(data), let stream {
            watch.streamWasRead(stream, frame.data.readableBytes + (frame.paddingBytes.map { $0 + 1 } ?? 0))
        }
        context.fireChannelRead(data)
    }
}

/// Passes stream events on to both the watch and NIO's connection management.
struct StreamsDelegate: NIOHTTP2StreamDelegate {
    let watch: NIOLoopBound<HTTP2ConnectionGuard>
    let management: any NIOHTTP2StreamDelegate

    func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
        watch.value.streamBegan(id)
        management.streamCreated(id, channel: channel)
    }

    func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
        watch.value.streamEnded(id)
        management.streamClosed(id, channel: channel)
    }
}
