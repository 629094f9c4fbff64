package import Basics
import HTTPTypes
package import NIOCore
package import NIOHTTP1
package import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Enforces the limits of one HTTP/1 connection, between the HTTP parser and the task that serves its requests, and
/// gives both their own types of parts.
///
/// It ends deliberately slow connections, and refuses requests that two parsers could read differently. It closes the
/// connection when the client or HTTP/1.0 asks for that.
package final class ConnectionGuard: ChannelDuplexHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    private let limits: ConnectionLimits
    private let isSecure: Bool
    private var phase = Phase.idle
    /// Unanswered requests in order: whether the connection closes after the answer.
    private var closings: [Bool] = []
    private var isResponding: Bool { !closings.isEmpty }
    /// Whether the server stops, so that the connection closes with its last answer.
    private var isStopping = false
    private lazy var deadlines = RequestDeadlines(limits) { [weak self] in self?.headIsLate($0) }
    private var context: ChannelHandlerContext?
    private var protocolSwitch = ProtocolSwitch()
    /// Whether the parser stops after the present request, and whether it has stopped.
    private var isLastForParser = false
    private var hasParserStopped = false
    /// Whether further input is useless: a stopped parser would buffer all of it.
    package var ignoresInput: Bool { hasParserStopped && phase != .upgrading && phase != .upgraded }

    private var lone = LoneRequest()

    /// Fires when the client disconnects or half-closes, so that held requests stop waiting.
    package let clientDisconnect = OneShotSignal()

    package init(limits: ConnectionLimits, isSecure: Bool) {
        self.limits = limits
        self.isSecure = isSecure
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        deadlines.expect(.head, context)
    }

    package func handlerRemoved(context: ChannelHandlerContext) { stop() }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            clientDisconnect.fire()
            endUpgraded(context)
        case is ChannelShouldQuiesceEvent:
            guard isResponding else { return context.close(promise: nil) }
            isStopping = true
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        clientDisconnect.fire()
        endUpgraded(context)
        stop()
        context.fireChannelInactive()
    }

    /// Switches the connection to another protocol.
    ///
    /// That protocol sets its own timeouts; an answer that the client does not read still ends the connection.
    private func upgrade(_ context: ChannelHandlerContext) throws {
        deadlines.arrived()
        phase = .upgraded
        try ProtocolSwitch.replaceCodec(before: self, limits, context).assumeIsolated().whenComplete { _ in
            // The parser has passed on the first bytes without a read-complete event.
            context.fireChannelReadComplete()
            self.resumeReading(context)
        }
    }

    package func read(context: ChannelHandlerContext) {
        if phase == .upgrading { protocolSwitch.holdRead() } else { context.read() }
    }

    private func resumeReading(_ context: ChannelHandlerContext) {
        if protocolSwitch.takeHeldRead() { context.read() }
    }

    /// Ends the request's body, which carries the client's bytes in the other protocol.
    private func endUpgraded(_ context: ChannelHandlerContext) {
        guard phase == .upgraded, protocolSwitch.endInput() else { return }
        context.fireChannelRead(wrapInboundOut(.end(nil)))
    }

    private func stop() {
        deadlines.stop()
        context = nil
    }

    // MARK: Bytes, counted before the parser

    package func received(_ count: Int) {
        lone.begin()
        deadlines.received(count)
        if case .idle = phase, !isResponding, let context {
            phase = .head
            deadlines.expect(.head, context)
        }
    }

    /// Ends a read, after the parser.
    package func parsed(_ bytes: ByteBuffer) { lone.end(bytes, isIdle: phase == .idle) }

    /// Gives away the bytes of the newest request.
    /// - Returns: nil if it did not come alone, or if the bytes were taken.
    package func takeSentHead() -> (bytes: ByteBuffer, isSecure: Bool)? { lone.take().map { ($0, isSecure) } }

    package func isAskingForBytes() { deadlines.isAskingForBytes() }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch phase {
        case .refused: return
        case .upgraded where !protocolSwitch.passesInput: return
        case .idle, .head, .body, .upgrading, .upgraded: break
        }
        switch unwrapInboundIn(data) {
        case .head(var head):
            deadlines.arrived()
            if let status = head.refusal { return refuse(context, status) }
            // The parser stops after this request.
            let wantsUpgrade = head.headers.contains(name: "upgrade")
            protocolSwitch.isPossible = wantsUpgrade && head.isWebSocketRequest && closings.isEmpty
            isLastForParser = wantsUpgrade || head.method == .CONNECT
            // A request for any other protocol is answered in HTTP/1, on a connection that then closes.
            let endsConnection =
                !head.isKeepAlive || head.method == .CONNECT || wantsUpgrade && !protocolSwitch.isPossible
            // Other heads are changed here, or by the codec.
            lone.noteHead(
                isUsual: closings.isEmpty && !endsConnection && head.uri.utf8.first == UInt8(ascii: "/"))
            closings.append(endsConnection)
            phase = .body
            deadlines.expect(.body, context)
            // In lower case, and for HTTP/1.0 too: Hummingbird reads it so.
            if endsConnection { head.headers.replaceOrAdd(name: "connection", value: "close") }
            do {
                context.fireChannelRead(wrapInboundOut(.head(try head.request(isSecure: isSecure))))
            } catch {
                refuse(context, .badRequest)
            }
        case .body(let bytes):
            lone.noteBody()
            context.fireChannelRead(wrapInboundOut(.body(bytes)))
        case .end:
            deadlines.arrived()
            hasParserStopped = isLastForParser
            // Held back until the answer: after a switch of protocols the request goes on.
            if protocolSwitch.isPossible { return phase = .upgrading }
            phase = .idle
            context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case HTTPParserError.headerOverflow = error, !isResponding {
            return refuse(context, .requestHeaderFieldsTooLarge)
        }
        context.fireErrorCaught(error)
    }

    // MARK: Responses

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status == .switchingProtocols && phase == .upgrading:
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponseHead(head))), promise: promise)
            do {
                try upgrade(context)
            } catch {
                context.close(promise: nil)
            }
        case .head(let head):
            let isLast = head.status.kind != .informational && endsConnection(with: head.status, context)
            var head = HTTPResponseHead(head)
            if isLast { head.headers.replaceOrAdd(name: "connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let bytes):
            context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
        case .end:
            let end = wrapOutboundOut(.end(nil))
            guard phase != .upgraded else {
                context.write(end, promise: promise)
                return isStopping ? context.close(promise: nil) : ()
            }
            guard closings.first == true || isStopping && closings.count == 1 else {
                if isResponding { closings.removeFirst() }
                if !isResponding, phase == .idle { deadlines.expect(.request, context) }
                return context.write(end, promise: promise)
            }
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { _ in self.closeAfterResponse(context) }
            context.writeAndFlush(end, promise: written)
        }
    }

    /// Decides with an answer's head whether the connection closes after the answer.
    private func endsConnection(with status: HTTPResponse.Status, _ context: ChannelHandlerContext) -> Bool {
        // No switch: the request ends here, and the connection stays HTTP.
        let hasNotSwitched = phase == .upgrading
        if hasNotSwitched {
            closings[0] = true
            phase = .idle
            context.fireChannelRead(wrapInboundOut(.end(nil)))
            resumeReading(context)
        }
        // An error before the whole request arrived: the connection closes, instead of reading the rest.
        if case .body = phase, closings.count == 1, status.code >= 400 { closings[0] = true }
        return closings.first == true
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        deadlines.writabilityChanged(context)
        context.fireChannelWritabilityChanged()
    }

    private func closeAfterResponse(_ context: ChannelHandlerContext) {
        guard case .body = phase else { return context.close(promise: nil) }
        // Closing at once would reset the connection, and the client could lose the unread answer.
        context.close(mode: .output, promise: nil)
        context.schedule(after: limits.drainTime) { $0.close(promise: nil) }
    }

    private func refuse(_ context: ChannelHandlerContext, _ status: HTTPResponseStatus) {
        stop()
        phase = .refused
        let headers: HTTPHeaders = ["connection": "close", "content-length": "0"]
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil
        )
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: nil)
            context.schedule(after: self.limits.drainTime) { $0.close(promise: nil) }
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    private func headIsLate(_ context: ChannelHandlerContext) {
        guard !isResponding else { return }
        if case .head = phase { refuse(context, .requestTimeout) } else { context.close(promise: nil) }
    }
}
