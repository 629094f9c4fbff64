import Basics
import HummingbirdCore
package import Logging
package import NIOCore

/// Serves an HTTP/1 connection without TLS, on the thread of its event loop.
///
/// Otherwise each part read or written would change threads, which costs more than most requests do.
package struct PlainChannel: ServerChildChannel {
    package typealias Value = RequestStream

    private let respond: Responder
    private let pipeline: HTTP1Pipeline
    private let connections: any ConnectionCounter

    package init(
        limits: ConnectionLimits, connections: any ConnectionCounter, logger: Logger, respond: @escaping Responder
    ) {
        self.respond = respond
        pipeline = HTTP1Pipeline(limits: limits, isSecure: false, logger: logger)
        self.connections = connections
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<RequestStream> {
        connections.count(channel)
        return channel.eventLoop.makeCompletedFuture { try pipeline.install(in: channel) }
    }

    package func handle(value: RequestStream, logger: Logger) async {
        EventLoopOffload.requireEventLoop()
        await withTaskExecutorPreference(value.executor) { await value.serve(respond, logger) }
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
