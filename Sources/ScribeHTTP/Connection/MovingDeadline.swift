import NIOCore

/// A time that moves on with each request of a connection, and one timer for all of them: hardly any request is late, and
/// to set and cancel a timer for each costs more than to look, when the timer is due, whether the time has moved.
///
/// On its connection's event loop only.
final class MovingDeadline {
    private var time = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?
    private let passed: (ChannelHandlerContext) -> Void

    /// - Parameter passed: is called at the time, unless that has moved.
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
    /// Does something later, if the connection is still there.
    @discardableResult
    func schedule(after time: TimeAmount, _ action: @escaping (ChannelHandlerContext) -> Void) -> Scheduled<Void> {
        eventLoop.assumeIsolated().scheduleTask(in: time) {
            if self.channel.isActive { action(self) }
        }
    }
}
