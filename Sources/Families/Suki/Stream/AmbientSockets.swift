import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// The socket of each session: one at a time, the newest (suki.md addendum 6).
final class AmbientSockets: Sendable {
    private struct Place: Hashable {
        let business: BusinessID
        let session: TransactionID
    }

    private let open = LockedValue<[Place: AmbientSocket]>([:])
    private let clock: WallClock

    private static let replaced = WebSocketClosure(1008, "Another socket goes on with the session")

    init(clock: WallClock) { self.clock = clock }

    /// Takes the session over, once whoever has it so far has said what was under way.
    func open(_ socket: WebSocket, for session: TransactionID, of business: BusinessID) async -> AmbientSocket {
        let new = AmbientSocket(socket)
        let place = Place(business: business, session: session)
        if let before = open.withLock({ $0.updateValue(new, forKey: place) }) {
            await before.quiet(clock)
            before.close(Self.replaced)
        }
        return new
    }

    /// A socket is closed.
    func end(_ socket: AmbientSocket, for session: TransactionID, of business: BusinessID) {
        let place = Place(business: business, session: session)
        open.withLock { open in
            if open[place] === socket { open[place] = nil }
        }
        socket.ended()
    }

    /// Whoever is connected is told that it is over, as soon as nothing more comes: what was sent before that counts.
    func drain(_ session: TransactionID, of business: BusinessID) async {
        guard let socket = open.withLock({ $0[Place(business: business, session: session)] }) else { return }
        await socket.quiet(clock)
        close(session, of: business)
    }

    func close(_ session: TransactionID, of business: BusinessID) {
        let place = Place(business: business, session: session)
        open.withLock { $0.removeValue(forKey: place) }?.close(.normal)
    }
}

/// One of them.
final class AmbientSocket: Sendable {
    /// So long after its last message it has nothing more to say, and so often that is looked for.
    private static let patience: Duration = .milliseconds(250)
    private static let attempts = 20

    private let socket: WebSocket
    private let end = Departure()
    /// How many came, and whether the last one is still dealt with.
    private let messages = LockedValue((count: 0, isBusy: false))

    init(_ socket: WebSocket) { self.socket = socket }

    /// Nobody is at it any more, and what came over it is stored.
    func ended() { end.happened() }

    /// Returns when it has ended, or has nothing more to say.
    func quiet(_ clock: WallClock) async {
        var heard: Int?
        for _ in 0..<Self.attempts {
            let (count, isBusy) = messages.withLock { $0 }
            if end.hasHappened || count == heard && !isBusy { return }
            heard = count
            let pause = Task { try? await clock.sleep(for: Self.patience, as: .socketDrain) }
            await end.watched(by: { pause.cancel() }) {
                if end.hasHappened { pause.cancel() }
                await withTaskCancellationHandler {
                    await pause.value
                } onCancel: {
                    pause.cancel()
                }
            }
        }
    }

    func heard() { messages.withLock { $0 = ($0.count + 1, true) } }

    /// The message was dealt with.
    func rests() { messages.withLock { $0.isBusy = false } }

    func close(_ closure: WebSocketClosure) { socket.close(closure) }
}
