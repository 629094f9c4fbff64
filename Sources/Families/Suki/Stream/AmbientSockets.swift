import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Tracks the socket of each ambient session: one at a time, the newest (suki.md addendum 6).
final class AmbientSockets: Sendable {
    private struct Place: Hashable {
        let business: BusinessID
        let session: TransactionID
    }

    private let open = LockedValue<[Place: AmbientSocket]>([:])
    private let clock: WallClock

    private static let replaced = WebSocketClosure(1008, "Another socket goes on with the session")

    init(clock: WallClock) { self.clock = clock }

    /// Registers a new socket of an ambient session, after the previous one is idle and closed.
    func open(_ socket: WebSocket, for session: TransactionID, of business: BusinessID) async -> AmbientSocket {
        let new = AmbientSocket(socket)
        let place = Place(business: business, session: session)
        if let before = open.withLock({ $0.updateValue(new, forKey: place) }) {
            await before.awaitIdle(clock)
            before.close(Self.replaced)
        }
        return new
    }

    /// Removes a closed socket of an ambient session.
    func end(_ socket: AmbientSocket, for session: TransactionID, of business: BusinessID) {
        let place = Place(business: business, session: session)
        open.withLock { open in
            if open[place] === socket { open[place] = nil }
        }
        socket.ended()
    }

    /// Closes an ambient session's socket once idle: messages sent before that count.
    func drain(_ session: TransactionID, of business: BusinessID) async {
        guard let socket = open.withLock({ $0[Place(business: business, session: session)] }) else { return }
        await socket.awaitIdle(clock)
        close(session, of: business)
    }

    func close(_ session: TransactionID, of business: BusinessID) {
        let place = Place(business: business, session: session)
        open.withLock { $0.removeValue(forKey: place) }?.close(.normal)
    }
}

/// Tracks the activity of one socket of an ambient session.
final class AmbientSocket: Sendable {
    /// Idle poll interval; at most 20 polls (5 s).
    private static let patience: Duration = .milliseconds(250)
    private static let attempts = 20

    private let socket: WebSocket
    private let end = OneShotSignal()
    /// Number of messages so far, and whether the last one is still being processed.
    private let messages = LockedValue((count: 0, isBusy: false))

    init(_ socket: WebSocket) { self.socket = socket }

    /// Marks the socket as closed, with all its messages stored.
    func ended() { end.fire() }

    /// Waits until the socket is closed or idle.
    func awaitIdle(_ clock: WallClock) async {
        var messageBegan: Int?
        for _ in 0..<Self.attempts {
            let (count, isBusy) = messages.withLock { $0 }
            if end.hasFired || count == messageBegan && !isBusy { return }
            messageBegan = count
            let pause = Task { try? await clock.sleep(for: Self.patience, as: .socketDrain) }
            await end.watched(by: { pause.cancel() }) {
                if end.hasFired { pause.cancel() }
                await withTaskCancellationHandler {
                    await pause.value
                } onCancel: {
                    pause.cancel()
                }
            }
        }
    }

    func messageBegan() { messages.withLock { $0 = ($0.count + 1, true) } }

    /// Marks the socket's last message as processed.
    func messageEnded() { messages.withLock { $0.isBusy = false } }

    func close(_ closure: WebSocketClosure) { socket.close(closure) }
}
