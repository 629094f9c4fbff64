package import Basics
package import Connections
import ScribeRuntime
package import ScribeStore

/// Socket with audio of a session. It closes once all audio that the client sent before is stored.
package final class AudioSocket: SessionSocket {
    /// Idle poll interval; at most 20 polls (5 s).
    private static let patience: Duration = .milliseconds(250)
    private static let attempts = 20

    /// nil until the socket is open.
    private let socket: LockedValue<WebSocket?>
    private let replaced: WebSocketClosure?
    private let clock: WallClock
    private let end = OneShotSignal()
    /// Number of messages so far, and whether the last one is still being processed.
    private let messages = LockedValue((count: 0, isBusy: false))

    /// - Parameters:
    ///   - socket: nil for one that is about to open.
    ///   - replaced: Closure for a socket that another one replaces; nil if both go on.
    package init(_ socket: WebSocket? = nil, replaced: WebSocketClosure?, _ clock: WallClock) {
        self.socket = LockedValue(socket)
        self.replaced = replaced
        self.clock = clock
    }

    /// Notes that the socket is open now.
    package func open(as socket: WebSocket) { self.socket.withLock { $0 = socket } }

    package func drainAndClose(for question: TransactionStore.StreamQuestion) async {
        await awaitIdle()
        switch question {
        case .end: close(.normal)
        case .replacement: replaced.map(close)
        }
    }

    /// Marks the socket as closed, with all its messages stored.
    package func ended() { end.fire() }

    /// Waits until the socket is closed or idle.
    private func awaitIdle() async {
        var messageBegan: Int?
        for _ in 0..<Self.attempts {
            let (count, isBusy) = messages.withLock { $0 }
            if end.hasFired || count == messageBegan && !isBusy { return }
            // A socket that is about to open has read nothing yet.
            messageBegan = socket.withLock { $0 == nil } ? nil : count
            try? await end.shortening { [clock] in try await clock.sleep(for: Self.patience, as: .socketDrain) }
        }
    }

    /// Marks the begin of a message.
    package func messageBegan() { messages.withLock { $0 = ($0.count + 1, true) } }

    /// Marks the socket's last message as processed.
    package func messageEnded() { messages.withLock { $0.isBusy = false } }

    package func close(_ closure: WebSocketClosure) { socket.withLock { $0 }?.close(closure) }
}
