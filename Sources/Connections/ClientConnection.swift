package import Basics
package import NIOCore
import NIOPosix

/// Facts that the requests of one HTTP/1 connection or HTTP/2 stream share.
///
/// Unchecked: the guard belongs to the event loop, where all that touch it run.
package final class ClientConnection: @unchecked Sendable {
    private let channel: any Channel
    private let guardHandler: ConnectionGuard?
    /// IP address of the client; empty without one. Known once a request has arrived; for the event loop.
    package private(set) lazy var address = channel.remoteAddress?.ipAddress ?? ""
    /// Fires when the client disconnects or half-closes.
    package let disconnect: OneShotSignal

    /// - Parameters:
    ///   - guardHandler: nil for an HTTP/2 stream.
    ///   - disconnect: never fires in tests without a socket.
    init(_ channel: any Channel, _ guardHandler: ConnectionGuard?, disconnect: OneShotSignal) {
        self.channel = channel
        self.guardHandler = guardHandler
        self.disconnect = disconnect
    }

    /// Whether this is an HTTP/2 stream.
    package var isStream: Bool { guardHandler == nil }

    /// A connection of a test, without guards.
    package convenience init(_ channel: any Channel) { self.init(channel, nil, disconnect: OneShotSignal()) }

    /// Gives away the bytes of the newest request, on the event loop.
    /// - Returns: nil if it did not come alone, if the bytes were taken, or with HTTP/2.
    package func takeSentHead() -> (bytes: ByteBuffer, isSecure: Bool)? { guardHandler?.takeSentHead() }

    /// Ends the connection at once and drops unsent bytes. With HTTP/2 only the request's stream ends.
    /// Returns once it has ended, so that nothing is written after it.
    package func reset() async {
        try? await channel.eventLoop.submit { [self] in
            // A close that waits for nothing resets the TCP connection.
            if guardHandler != nil {
                _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                // With TLS this goes past the close_notify; without TLS no handler takes it.
                channel.triggerUserOutboundEvent(HangUp(), promise: nil)
            }
            channel.close(promise: nil)
        }.get()
    }
}
