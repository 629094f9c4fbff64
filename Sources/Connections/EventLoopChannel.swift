import Basics
package import HummingbirdCore
package import Logging
package import NIOCore

/// Serves an HTTP/1 connection on the thread of its event loop.
///
/// Otherwise each part read or written would change threads, which costs more than most requests do.
package struct EventLoopChannel: ServerChildChannel {
    package typealias Value = HTTP1Channel.Value

    private let base: HTTP1Channel
    private let pipeline: HTTP1Pipeline
    private let connections: any ConnectionCounter

    package init(base: HTTP1Channel, pipeline: HTTP1Pipeline, connections: any ConnectionCounter) {
        self.base = base
        self.pipeline = pipeline
        self.connections = connections
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        connections.count(channel)
        return channel.eventLoop.makeCompletedFuture { try pipeline.install(in: channel, logger: logger) }
    }

    package func handle(value: Value, logger: Logger) async {
        EventLoopOffload.requireEventLoop()
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}

/// Counts open connections.
package protocol ConnectionCounter: Sendable {
    func connectionOpened()
    func connectionClosed()
}

extension ConnectionCounter {
    /// Counts a connection until it closes.
    func count(_ channel: any Channel) {
        connectionOpened()
        channel.closeFuture.whenComplete { [self] _ in connectionClosed() }
    }
}

/// Runs Swift tasks on an event loop.
package final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    package init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
