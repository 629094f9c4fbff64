import Basics
package import NIOCore
import NIOPosix

/// Connection or HTTP/2 stream that carries a request.
package struct ClientConnection: Sendable {
    private let channel: any Channel

    package init(_ channel: any Channel) { self.channel = channel }

    /// Ends the connection at once and drops unsent bytes. With HTTP/2 only the request's stream ends.
    /// Returns once it has ended, so that nothing is written after it.
    package func reset() async {
        try? await channel.eventLoop.submit { [channel] in
            let pipeline = channel.pipeline.syncOperations
            let isStream = (try? pipeline.handler(type: StreamGuard.self)) != nil
            // A close that waits for nothing resets the TCP connection.
            if !isStream, (try? pipeline.handler(type: ConnectionGuard.self)) != nil {
                _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                // With TLS this goes past the close_notify; without TLS no handler takes it.
                channel.triggerUserOutboundEvent(HangUp(), promise: nil)
            }
            channel.close(promise: nil)
        }.get()
    }
}
