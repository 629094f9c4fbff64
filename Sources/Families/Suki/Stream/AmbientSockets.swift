import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Tracks the socket of each ambient session: one at a time, the newest (suki.md addendum 6).
final class AmbientSockets: Sendable {
    private let open = LockedValue<[Transaction.Key: AmbientSocket]>([:])
    private let streams: SessionStreams
    private let clock: WallClock

    /// - Parameter streams: the sockets that other servers ask about.
    init(_ streams: SessionStreams, clock: WallClock) {
        self.streams = streams
        self.clock = clock
    }

    /// Registers a new socket of an ambient session, after the previous one is idle and closed.
    func open(_ socket: WebSocket, for session: TransactionID, of business: BusinessID) async -> AmbientSocket {
        let new = AmbientSocket(socket, clock)
        let key = Transaction.Key(business: business, id: session)
        if let before = open.withLock({ $0.updateValue(new, forKey: key) }) {
            await before.giveWay(because: .replacement)
        }
        await streams.add(new, to: key)
        return new
    }

    /// Removes a closed socket of an ambient session.
    func end(_ socket: AmbientSocket, for session: TransactionID, of business: BusinessID) {
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
        await socket.giveWay(because: .end)
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

/// Tracks the activity of one socket of an ambient session.
final class AmbientSocket: SessionSocket {
    private static let replaced = WebSocketClosure(1008, "Another socket goes on with the session")
    /// Idle poll interval; at most 20 polls (5 s).
    private static let patience: Duration = .milliseconds(250)
    private static let attempts = 20

    private let socket: WebSocket
    private let clock: WallClock
    private let end = OneShotSignal()
    /// Number of messages so far, and whether the last one is still being processed.
    private let messages = LockedValue((count: 0, isBusy: false))

    init(_ socket: WebSocket, _ clock: WallClock) {
        self.socket = socket
        self.clock = clock
    }

    /// Closes the socket once idle: messages sent before that count.
    func giveWay(because question: Store.StreamQuestion) async {
        await awaitIdle()
        close(question == .replacement ? Self.replaced : .normal)
    }

    /// Marks the socket as closed, with all its messages stored.
    func ended() { end.fire() }

    /// Waits until the socket is closed or idle.
    private func awaitIdle() async {
        var messageBegan: Int?
        for _ in 0..<Self.attempts {
            let (count, isBusy) = messages.withLock { $0 }
            if end.hasFired || count == messageBegan && !isBusy { return }
            messageBegan = count
            let pause = Task { try? await clock.sleep(for: Self.patience, as: .socketDrain) }
            await end.watched(by: { pause.cancel() }) {
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
