import NIOCore
import NIOHTTP1
import ScribeDomain
import ScribeRuntime

/// Keeps one connection within its limits, between the HTTP parser and everything that understands requests.
///
/// It ends connections that are slow on purpose, refuses requests that two readers could read differently, answers
/// `Expect: 100-continue` at once (AWS clients and curl otherwise wait a second before they send the body), and closes
/// when the client or HTTP/1.0 wants that.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How far the connection, and the request that is being read, are.
    private enum Phase {
        /// Nothing of a request has arrived.
        case idle
        case head, body
        /// A request was refused; whatever else arrives is not read.
        case refused
        /// A request wants to go on in another protocol, and is not answered yet.
        case upgrading
        /// Another protocol is spoken here now, which has limits of its own.
        case upgraded
    }

    private let limits: ConnectionLimits
    private var phase = Phase.idle
    /// The requests that are not answered yet, in order: whether the connection ends with the answer.
    private var closings: [Bool] = []
    private var isResponding: Bool { !closings.isEmpty }
    private var bytesInWindow = 0
    private var isWaitingForBytes = false
    /// The part of a request that must come before the deadline.
    private enum Awaited { case head, body }
    private var awaited: Awaited?
    private lazy var deadline = MovingDeadline { [weak self] context in
        guard let self, let awaited else { return }
        self.awaited = nil
        isLate(awaited, context)
    }
    private var answerTimer: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    /// Whether the request that is being read may go on as a WebSocket.
    private var isUpgradable = false
    private var hasEndedUpgraded = false
    /// Whether more was asked for while the answer to a WebSocket's request was awaited. What comes with the request waits
    /// in the parser, and is no more than one read.
    private var isReadHeld = false
    /// Whether the parser takes the request for the last one that it understands, and whether that has ended.
    private var isLastForParser = false
    private var hasParserStopped = false
    /// Whether what arrives is read by nobody: a parser that has stopped keeps it all.
    var isDeaf: Bool { hasParserStopped && phase != .upgrading && phase != .upgraded }

    /// Ends when the client has gone, or sends no more: who waits for an answer then waits for nobody.
    let departure: Departure

    init(limits: ConnectionLimits, departure: Departure) {
        self.limits = limits
        self.departure = departure
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        expect(.head, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            departure.happened()
            endUpgraded(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        departure.happened()
        endUpgraded(context)
        stop()
        context.fireChannelInactive()
    }

    /// Another protocol takes the connection over, as the body of a request that goes on, and of its answer: what is not
    /// HTTP any more goes through as it is, and the time for it is that protocol's to limit. An answer that nobody takes
    /// still ends the connection.
    private func upgrade(_ context: ChannelHandlerContext) throws {
        let pipeline = context.pipeline.syncOperations
        let parser = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
        try pipeline.addHandler(RawBytes(), position: .before(self))
        awaited = nil
        phase = .upgraded
        pipeline.removeHandler(context: encoder, promise: nil)
        let removed = context.eventLoop.makePromise(of: Void.self)
        removed.futureResult.assumeIsolated().whenComplete { _ in
            // The parser has handed on what came behind the request, the first bytes of the other protocol, and not that
            // this was all for now.
            context.fireChannelReadComplete()
            self.resumeReading(context)
        }
        pipeline.removeHandler(context: parser, promise: removed)
    }

    func read(context: ChannelHandlerContext) {
        if phase == .upgrading { isReadHeld = true } else { context.read() }
    }

    private func resumeReading(_ context: ChannelHandlerContext) {
        guard isReadHeld else { return }
        isReadHeld = false
        context.read()
    }

    /// The request's body, which is all that a client says in the other protocol, has an end.
    private func endUpgraded(_ context: ChannelHandlerContext) {
        guard phase == .upgraded, !hasEndedUpgraded else { return }
        hasEndedUpgraded = true
        context.fireChannelRead(wrapInboundOut(.end(nil)))
    }

    private func stop() {
        awaited = nil
        deadline.cancel()
        answerTimer?.cancel()
        context = nil
    }

    // MARK: Bytes, as the counter in front of the parser sees them

    func received(_ count: Int) {
        isWaitingForBytes = false
        bytesInWindow += count
        if case .idle = phase, !isResponding, let context {
            phase = .head
            expect(.head, context)
        }
    }

    func isAskingForBytes() { isWaitingForBytes = true }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch phase {
        case .refused: return
        case .upgraded: return hasEndedUpgraded ? () : context.fireChannelRead(data)
        case .idle, .head, .body, .upgrading: break
        }
        switch unwrapInboundIn(data) {
        case .head(var head):
            awaited = nil
            if let status = head.refusal { return refuse(context, status) }
            // Behind this request nothing more can be read: the parser stops at it.
            let wantsUpgrade = head.headers.contains(name: "upgrade")
            isUpgradable = wantsUpgrade && head.isWebSocketRequest && closings.isEmpty
            isLastForParser = wantsUpgrade || head.method == .CONNECT
            // To whoever wants any other protocol this one is spoken.
            let endsConnection = !head.isKeepAlive || head.method == .CONNECT || wantsUpgrade && !isUpgradable
            closings.append(endsConnection)
            phase = .body
            expect(.body, context)
            // In lower case and for HTTP/1.0 too: that is how the server behind reads it.
            if endsConnection { head.headers.replaceOrAdd(name: "connection", value: "close") }
            if head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                let answer = HTTPResponseHead(version: head.version, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
            }
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body:
            context.fireChannelRead(data)
        case .end:
            awaited = nil
            hasParserStopped = isLastForParser
            // Held back until it is decided: in another protocol the request goes on.
            if isUpgradable { return phase = .upgrading }
            phase = .idle
            context.fireChannelRead(data)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case HTTPParserError.headerOverflow = error, !isResponding {
            return refuse(context, .requestHeaderFieldsTooLarge)
        }
        context.fireErrorCaught(error)
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if phase == .upgraded { return writeUpgraded(context, data, promise) }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status == .switchingProtocols && phase == .upgrading:
            context.writeAndFlush(data, promise: promise)
            do {
                try upgrade(context)
            } catch {
                context.close(promise: nil)
            }
        case .head(var head) where phase == .upgrading:
            // It stays HTTP, and ends here.
            closings[0] = true
            head.headers.replaceOrAdd(name: "connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            phase = .idle
            context.fireChannelRead(wrapInboundOut(.end(nil)))
            resumeReading(context)
        case .head(var head) where head.status.code >= 200:
            // Refused before all of it was here: reading the rest would only be for the next request's sake.
            if case .body = phase, closings.count == 1, head.status.code >= 400 { closings[0] = true }
            if closings.first == true { head.headers.replaceOrAdd(name: "connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end where closings.first == true:
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { _ in self.closeAfterResponse(context) }
            context.writeAndFlush(data, promise: written)
        case .end:
            if isResponding { closings.removeFirst() }
            context.write(data, promise: promise)
        case .head, .body:
            context.write(data, promise: promise)
        }
    }

    private func writeUpgraded(_ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        // What was said last is to arrive before the connection ends.
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: nil)
            context.schedule(after: self.limits.drainTime) { $0.close(promise: nil) }
        }
        context.writeAndFlush(data, promise: written)
    }

    /// An answer that nobody reads would keep its file, its memory and its connection for ever.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        answerTimer?.cancel()
        answerTimer = nil
        if !context.channel.isWritable {
            answerTimer = context.schedule(after: limits.answerWindow) { $0.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    private func closeAfterResponse(_ context: ChannelHandlerContext) {
        guard case .body = phase else { return context.close(promise: nil) }
        // Closing now would reset the connection, and the client might lose the answer that it has not read yet.
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

    // MARK: Time

    /// Begins the time for the next head or body.
    private func expect(_ awaited: Awaited, _ context: ChannelHandlerContext) {
        if awaited == .body { bytesInWindow = 0 }
        self.awaited = awaited
        deadline.move(to: context.eventLoop.now + TimeAmount(limits.requestTime), context)
    }

    private func isLate(_ awaited: Awaited, _ context: ChannelHandlerContext) {
        switch awaited {
        case .head:
            guard !isResponding else { return }
            if case .head = phase { refuse(context, .requestTimeout) } else { context.close(promise: nil) }
        case .body:
            guard case .body = phase else { return }
            // A body that we wait for must go on. One that we do not ask for, because the disk is slower, is not the
            // client's fault.
            if isWaitingForBytes, bytesInWindow < limits.bodyMinimum {
                context.close(promise: nil)
            } else {
                expect(.body, context)
            }
        }
    }
}
