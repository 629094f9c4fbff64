import ScribeDomain
import ScribeHTTP

/// The socket of each session: one at a time, the newest (suki.md addendum 6).
final class AmbientSockets: Sendable {
    private struct Place: Hashable {
        let business: BusinessID
        let session: TransactionID
    }

    private let open = LockedValue<[Place: AmbientSocket]>([:])
    private let clock: ScribeClock

    private static let replaced = WebSocketClosure(1008, "Another socket goes on with the session")
    /// So long after its last message a socket has nothing more to say, and so often that is looked for.
    private static let patience: Duration = .milliseconds(250)
    private static let attempts = 20

    init(clock: ScribeClock) { self.clock = clock }

    /// Takes the session over. Whoever has it so far says what is under way first.
    func open(_ socket: WebSocket, for session: TransactionID, of business: BusinessID) -> AmbientSocket {
        let new = AmbientSocket(socket)
        open.withLock { $0.updateValue(new, forKey: Place(business: business, session: session)) }?.close(Self.replaced)
        return new
    }

    /// A socket is closed.
    func end(_ socket: AmbientSocket, for session: TransactionID, of business: BusinessID) {
        let place = Place(business: business, session: session)
        open.withLock { open in
            if open[place] === socket { open[place] = nil }
        }
    }

    /// Whoever is connected is told that it is over, as soon as nothing more comes: what was sent before that counts.
    func drain(_ session: TransactionID, of business: BusinessID) async throws {
        let place = Place(business: business, session: session)
        var heard: Int?
        for _ in 0..<Self.attempts {
            guard let socket = open.withLock({ $0[place] }) else { return }
            let count = socket.count
            if count == heard { break }
            heard = count
            try await clock.sleep(for: Self.patience, as: .socketDrain)
        }
        close(session, of: business)
    }

    func close(_ session: TransactionID, of business: BusinessID) {
        let place = Place(business: business, session: session)
        open.withLock { $0.removeValue(forKey: place) }?.close(.normal)
    }
}

/// One of them.
final class AmbientSocket: Sendable {
    private let socket: WebSocket
    private let messages = LockedValue(0)

    init(_ socket: WebSocket) { self.socket = socket }

    /// How many messages were dealt with.
    var count: Int { messages.withLock { $0 } }

    func heard() { messages.withLock { $0 += 1 } }

    func close(_ closure: WebSocketClosure) { socket.close(closure) }
}
