package import Basics
import HTTPTypes
package import NIOCore
import NIOHTTP2
package import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// Enforces the limits of one HTTP/2 stream, as ``ConnectionGuard`` does for an HTTP/1 connection.
///
/// Heads are limited by the connection (``ConnectionLimits/http2``).
package final class StreamGuard: ChannelDuplexHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let limits: ConnectionLimits
    private let hasRoom: Bool
    private var hasRequestEnded = false
    private var isRefused = false
    /// The answer is complete, but not fully sent.
    private var isAnswerWaiting = false
    /// The answer came before the whole request had arrived.
    private var endsWithAnswer = false
    private lazy var deadlines = RequestDeadlines(limits) { _ in }
    private var answerTimer: Scheduled<Void>?

    /// Fires when the client disconnects, so that held requests stop waiting.
    package let clientDisconnect = OneShotSignal()

    /// - Parameter hasRoom: false if too many streams are open; the request then gets a 503.
    package init(limits: ConnectionLimits, hasRoom: Bool) {
        self.limits = limits
        self.hasRoom = hasRoom
    }

    package func handlerRemoved(context: ChannelHandlerContext) { stop() }

    package func channelInactive(context: ChannelHandlerContext) {
        clientDisconnect.fire()
        stop()
        context.fireChannelInactive()
    }

    private func stop() {
        deadlines.stop()
        answerTimer?.cancel()
    }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .end:
            hasRequestEnded = true
            deadlines.arrived()
            if !isRefused { context.fireChannelRead(data) }
        case _ where isRefused: break
        case .head(var head):
            guard hasRoom else { return refuse(context, .serviceUnavailable) }
            if let status = head.normalise(fieldCount: limits.fieldCount) { return refuse(context, status) }
            deadlines.expect(.body, context)
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body(let bytes):
            deadlines.received(bytes.readableBytes)
            context.fireChannelRead(data)
        }
    }

    package func read(context: ChannelHandlerContext) {
        deadlines.isAskingForBytes()
        context.read()
    }

    // MARK: Responses

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // HTTP/2 does not have these headers (RFC 9113, 8.2.2).
            for name in [HTTPField.Name.connection, .upgrade, .transferEncoding] { head.headerFields[name] = nil }
            if head.status.code == 204 { head.headerFields[.contentLength] = nil }
            // The client chooses the size of the HPACK table, and each lookup takes time in proportion to that size.
            head.headerFields = HTTPFields(
                head.headerFields.map { field in
                    var field = field
                    field.indexingStrategy = .avoid
                    return field
                })
            if head.status.kind == .clientError || head.status.kind == .serverError {
                endsWithAnswer = !hasRequestEnded
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            // A small answer is buffered whole, and never makes the stream unwritable.
            isAnswerWaiting = true
            watchAnswer(context)
            written.futureResult.assumeIsolated().whenComplete { _ in
                self.isAnswerWaiting = false
                self.answerTimer?.cancel()
                if self.endsWithAnswer { self.stopReading(context) }
            }
            context.writeAndFlush(data, promise: written)
        case .body:
            context.write(data, promise: promise)
        }
    }

    /// Resets the stream after a complete answer: the rest of the request is not needed (RFC 9113, 8.1).
    private func stopReading(_ context: ChannelHandlerContext) {
        // The end of the request may be among the bytes that have already arrived.
        context.eventLoop.assumeIsolated().execute {
            guard !self.hasRequestEnded, context.channel.isActive else { return }
            context.triggerUserOutboundEvent(NIOHTTP2FramePayloadToHTTPEvent.reset(code: .noError), promise: nil)
            context.close(promise: nil)
        }
    }

    private func refuse(_ context: ChannelHandlerContext, _ status: HTTPResponse.Status) {
        isRefused = true
        context.write(
            wrapOutboundOut(.head(HTTPResponse(status: status, headerFields: [.contentLength: "0"]))), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in self.stopReading(context) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    /// Starts the answer timeout. An unread answer would keep its file and its memory forever.
    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        watchAnswer(context)
        context.fireChannelWritabilityChanged()
    }

    private func watchAnswer(_ context: ChannelHandlerContext) {
        answerTimer?.cancel()
        guard isAnswerWaiting || !context.channel.isWritable else { return }
        answerTimer = context.schedule(after: limits.answerWindow) { $0.close(promise: nil) }
    }
}

extension HTTPRequest {
    /// Converts the head to its HTTP/1 form: authority and scheme.
    /// - Returns: The status to refuse the request with; nil for a valid head.
    fileprivate mutating func normalise(fieldCount: Int) -> HTTPResponse.Status? {
        scheme = "https"
        guard headerFields.count <= fieldCount else { return .requestHeaderFieldsTooLarge }
        for field in headerFields where CombiningMarks.areTooMany(in: field.value.utf8) { return .badRequest }
        let hosts = headerFields[values: .host]
        guard hosts.count <= 1, authority == nil || hosts.isEmpty || hosts.first == authority else {
            return .badRequest
        }
        authority = authority ?? hosts.first
        headerFields[.host] = nil
        guard authority?.isEmpty == false, path?.isEmpty == false, method != .connect else { return .badRequest }
        return nil
    }
}
