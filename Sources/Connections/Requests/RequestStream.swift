import HTTPTypes
import HummingbirdCore
package import NIOCore
package import NIOHTTPTypes

/// Requests of one HTTP/1 connection or HTTP/2 stream, for the task that serves them in turn, and the answers of that
/// task.
///
/// Task and channel share an event loop, so that parts pass without a lock, and a request that has arrived whole needs
/// no stream for its body. `NIOAsyncChannel` has a lock and a queue for each direction.
///
/// Unchecked: its state belongs to the event loop, and calls from elsewhere go there first.
package final class RequestStream: ChannelDuplexHandler, ServerChildChannelValue, @unchecked Sendable {
    package typealias InboundIn = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    /// Reason for which no more parts arrive.
    private enum End {
        /// The client disconnected or half-closed, or the server stops.
        case closed
        case failed(any Error)
    }

    /// Most parts that wait for the task; with more, nothing is read. Reads go on below half of it.
    private static let maxParts = 8

    package let channel: any Channel
    let connection: ClientConnection
    /// Runs tasks on the channel's event loop.
    let executor: EventLoopExecutor
    private var context: ChannelHandlerContext?
    private var parts = CircularBuffer<HTTPRequestPart>(initialCapacity: 4)
    private var end: End?
    private var isReadHeld = false
    private var isFlushDue = false
    /// Whether the client waits for `100 Continue` before it sends the body.
    private var isContinueDue = false
    /// A task that waits for parts, or for a client to read. A socket's reader and writers wait at the same time.
    private var waiting: UnsafeContinuation<Void, Never>?
    private var othersWaiting: [UnsafeContinuation<Void, Never>] = []

    /// - Parameter guardHandler: the guard of the HTTP/1 connection.
    convenience init(_ channel: any Channel, _ guardHandler: ConnectionGuard) {
        self.init(
            channel, ClientConnection(channel, guardHandler, disconnect: guardHandler.clientDisconnect))
    }

    /// - Parameter guardHandler: the guard of the HTTP/2 stream.
    convenience init(_ channel: any Channel, _ guardHandler: StreamGuard) {
        self.init(channel, ClientConnection(channel, nil, disconnect: guardHandler.clientDisconnect))
    }

    private init(_ channel: any Channel, _ connection: ClientConnection) {
        self.channel = channel
        self.connection = connection
        executor = EventLoopExecutor(channel.eventLoop)
    }

    // MARK: Channel

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        finish(.closed)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        parts.append(part)
        if case .end = part { wake() }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if !parts.isEmpty { wake() }
        context.fireChannelReadComplete()
    }

    package func read(context: ChannelHandlerContext) {
        if parts.count < Self.maxParts { context.read() } else { isReadHeld = true }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { finish(.closed) }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        wake()
        context.fireChannelWritabilityChanged()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        finish(.closed)
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(.failed(error))
        context.fireErrorCaught(error)
    }

    private func finish(_ end: End) {
        if self.end == nil { self.end = end }
        wake()
    }

    private func wake() {
        waiting.take()?.resume()
        guard !othersWaiting.isEmpty else { return }
        let others = othersWaiting
        othersWaiting = []
        for other in others { other.resume() }
    }

    /// Waits until something has happened on the channel, or the task is cancelled.
    private func wait() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation {
                if let other = waiting { othersWaiting.append(other) }
                waiting = $0
            }
        } onCancel: {
            channel.eventLoop.execute { [self] in wake() }
        }
    }

    private func nextPart() -> HTTPRequestPart? {
        defer {
            if isReadHeld, parts.count <= Self.maxParts / 2 {
                isReadHeld = false
                context?.read()
            }
        }
        return parts.popFirst()
    }

    // MARK: Requests, for the task

    /// The next request, once the rest of the one before has arrived.
    /// - Returns: nil once the client has sent its last.
    /// - Throws: the error of the channel, such as `HTTPParserError`.
    func next() async throws -> Request? {
        while true {
            switch (nextPart(), end) {
            case (.head(let head)?, _):
                // A look-up by name would first make an index of all fields.
                isContinueDue = head.headerFields.contains {
                    $0.name == .expect && $0.value.lowercased() == "100-continue"
                }
                return Request(head: head, body: body())
            case (.body?, _), (.end?, _): continue
            case (nil, .failed(let error)?): throw error
            case (nil, .closed?): return nil
            case (nil, nil) where Task.isCancelled: return nil
            case (nil, nil): await wait()
            }
        }
    }

    /// The body of the request whose head was taken: its bytes if the request has arrived whole.
    private func body() -> RequestBody {
        if case .end? = parts.first {
            parts.removeFirst()
            // botocore mistakes the next answer on a connection where none came before the answer.
            sendContinue()
            return RequestBody(buffer: ByteBuffer())
        }
        if parts.count > 1, case .body(let bytes)? = parts.first,
            case .end = parts[parts.index(after: parts.startIndex)]
        {
            parts.removeFirst(2)
            isContinueDue = false
            return RequestBody(buffer: bytes)
        }
        return RequestBody(asyncSequence: ArrivingBody(stream: self))
    }

    /// The next bytes of the body. The first call sends `100 Continue` to a client that waits for it, so that a
    /// request is refused before its body where its head suffices.
    /// - Returns: nil at its end, which stays for ``next()``.
    /// - Throws: the error of the channel, or `ChannelError` if the client went away.
    fileprivate func nextBytes() async throws -> ByteBuffer? {
        guard channel.eventLoop.inEventLoop else {
            return try await withTaskExecutorPreference(executor) { try await nextBytes() }
        }
        while true {
            switch (parts.first, end) {
            case (.body(let bytes)?, _):
                isContinueDue = false
                _ = nextPart()
                return bytes
            case (.some, _):
                isContinueDue = false
                return nil
            case (nil, .failed(let error)?): throw error
            case (nil, .closed?): throw ChannelError.inputClosed
            case (nil, nil):
                try Task.checkCancellation()
                sendContinue()
                await wait()
            }
        }
    }

    /// Ends the client's wait for `100 Continue`: an answer goes before it.
    /// - Returns: whether the client has waited.
    func giveUpContinue() -> Bool {
        defer { isContinueDue = false }
        return isContinueDue
    }

    private func sendContinue() {
        guard isContinueDue else { return }
        isContinueDue = false
        context?.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    // MARK: Answers, for the task

    /// Writes a part of an answer. It is sent when the event loop has run the task, or when the answer ends.
    ///
    /// Waits while the client does not read what was written.
    /// - Throws: `ChannelError` if the connection is closed.
    func write(_ part: HTTPResponsePart) async throws {
        guard channel.eventLoop.inEventLoop else {
            return try await withTaskExecutorPreference(executor) { try await write(part) }
        }
        guard let context, channel.isActive else { throw ChannelError.ioOnClosedChannel }
        context.write(wrapOutboundOut(part), promise: nil)
        if case .end = part { return flush() }
        if !isFlushDue {
            isFlushDue = true
            channel.eventLoop.execute { [self] in if isFlushDue { flush() } }
        }
        guard !channel.isWritable else { return }
        flush()
        while !channel.isWritable {
            guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
            try Task.checkCancellation()
            await wait()
        }
    }

    private func flush() {
        isFlushDue = false
        context?.flush()
    }

    /// Ends the server's side of the connection.
    /// - Parameter isCut: whether the answer is incomplete, so that the client must not wait for the rest.
    func close(isCut: Bool) {
        flush()
        context?.close(mode: isCut ? .all : .output, promise: nil)
    }
}

/// Body of a request, as its bytes arrive.
private struct ArrivingBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let stream: RequestStream

    func makeAsyncIterator() -> Self { self }

    @concurrent func next() async throws -> ByteBuffer? { try await stream.nextBytes() }
}
