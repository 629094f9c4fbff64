import NIOCore

/// Deadline that moves with each request of a connection, with one timer for all requests.
///
/// Hardly any request is late. Checking a due timer costs less than setting and cancelling one per request.
///
/// Not thread-safe: only for the connection's event loop.
final class MovingDeadline {
    private var time = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?
    private let passed: (ChannelHandlerContext) -> Void

    /// - Parameter passed: Called at the deadline, unless that has moved.
    init(_ passed: @escaping (ChannelHandlerContext) -> Void) { self.passed = passed }

    func move(to time: NIODeadline, _ context: ChannelHandlerContext) {
        self.time = time
        if timer == nil { watch(context) }
    }

    func cancel() { timer?.cancel() }

    private func watch(_ context: ChannelHandlerContext) {
        timer = context.schedule(after: time - context.eventLoop.now) { [self] context in
            timer = nil
            if context.eventLoop.now < time { watch(context) } else { passed(context) }
        }
    }
}

extension ChannelHandlerContext {
    /// Schedules an action, which is skipped if the connection has closed.
    @discardableResult
    func schedule(after time: TimeAmount, _ action: @escaping (ChannelHandlerContext) -> Void) -> Scheduled<Void> {
        eventLoop.assumeIsolated().scheduleTask(in: time) {
            if self.channel.isActive { action(self) }
        }
    }
}
