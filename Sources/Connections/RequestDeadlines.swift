import NIOCore

/// Time limits of one HTTP/1 connection, or of one HTTP/2 stream: for the next request, the rest of its head, the bytes
/// of its body, and for the client to read an answer.
///
/// Not thread-safe: only for the connection's event loop.
final class RequestDeadlines {
    /// The first byte of another request, or the part of a request, that must arrive before the deadline.
    enum Awaited { case request, head, body }

    private let limits: ConnectionLimits
    private let headIsLate: (ChannelHandlerContext) -> Void
    private var awaited: Awaited?
    private var bytesInWindow = 0
    private var isWaitingForBytes = false
    private lazy var deadline = MovingDeadline { [weak self] in self?.pass($0) }
    private var answerTimer: Scheduled<Void>?

    /// - Parameter headIsLate: Called when a head has not arrived in time.
    init(_ limits: ConnectionLimits, headIsLate: @escaping (ChannelHandlerContext) -> Void) {
        self.limits = limits
        self.headIsLate = headIsLate
    }

    /// Starts the timeout for the next head or body.
    func expect(_ awaited: Awaited, _ context: ChannelHandlerContext) {
        if awaited == .body { bytesInWindow = 0 }
        self.awaited = awaited
        let time = awaited == .request ? limits.idleTime : limits.requestTime
        deadline.move(to: context.eventLoop.now + TimeAmount(time), context)
    }

    /// Ends the timeout: the awaited part has arrived.
    func arrived() { awaited = nil }

    /// Counts bytes from the client.
    func received(_ count: Int) {
        isWaitingForBytes = false
        bytesInWindow += count
    }

    /// Notes that the server reads from the client.
    func isAskingForBytes() { isWaitingForBytes = true }

    /// Starts or ends the answer timeout. An unread answer would keep its file, its memory and its connection forever.
    func writabilityChanged(_ context: ChannelHandlerContext) {
        answerTimer?.cancel()
        answerTimer = nil
        guard !context.channel.isWritable else { return }
        answerTimer = context.schedule(after: limits.answerWindow) { $0.close(promise: nil) }
    }

    func stop() {
        awaited = nil
        deadline.cancel()
        answerTimer?.cancel()
    }

    private func pass(_ context: ChannelHandlerContext) {
        let late = awaited
        awaited = nil
        switch late {
        case nil: break
        case .request: context.close(promise: nil)
        case .head: headIsLate(context)
        // A body being read must make progress. A body not being read waits for a slower disk, no fault of a client.
        case .body where isWaitingForBytes && bytesInWindow < limits.bodyMinimum: context.close(promise: nil)
        case .body: expect(.body, context)
        }
    }
}
