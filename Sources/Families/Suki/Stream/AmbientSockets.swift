import Basics
import Connections
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Tracks the socket of each ambient session: one at a time, the newest (suki.md addendum 6).
final class AmbientSockets: Sendable {
    private static let replaced = WebSocketClosure(1008, "Another socket goes on with the session")

    private let open = LockedValue<[Transaction.Key: AudioSocket]>([:])
    private let streams: SessionStreams
    private let clock: WallClock

    /// - Parameter streams: the sockets that other servers ask about.
    init(_ streams: SessionStreams, clock: WallClock) {
        self.streams = streams
        self.clock = clock
    }

    /// Registers a new socket of an ambient session, after the previous one is idle and closed.
    func open(_ socket: WebSocket, for session: TransactionID, of business: BusinessID) async -> AudioSocket {
        let new = AudioSocket(socket, replaced: Self.replaced, clock)
        let key = Transaction.Key(business: business, id: session)
        if let before = open.withLock({ $0.updateValue(new, forKey: key) }) {
            await before.drainAndClose(for: .replacement)
        }
        await streams.add(new, to: key)
        return new
    }

    /// Removes a closed socket of an ambient session.
    func end(_ socket: AudioSocket, for session: TransactionID, of business: BusinessID) {
        let key = Transaction.Key(business: business, id: session)
        open.withLock { open in
            if open[key] === socket { open[key] = nil }
        }
        streams.remove(socket, from: key)
        socket.ended()
    }

    /// Closes an ambient session's socket once idle: messages sent before that count.
    func drain(_ session: TransactionID, of business: BusinessID) async {
        let key = Transaction.Key(business: business, id: session)
        guard let socket = open.withLock({ $0[key] }) else { return }
        await socket.drainAndClose(for: .end)
        open.withLock { open in
            if open[key] === socket { open[key] = nil }
        }
    }

    /// Closes an ambient session's socket, on other servers too.
    func close(_ session: TransactionID, of business: BusinessID) async {
        let key = Transaction.Key(business: business, id: session)
        open.withLock { $0.removeValue(forKey: key) }?.close(.normal)
        await streams.closeOthers(key)
    }
}
