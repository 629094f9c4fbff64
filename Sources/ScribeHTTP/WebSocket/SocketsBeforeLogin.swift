import ScribeDomain

/// The sockets whose clients have not said yet who they are. Of too many, the oldest of the busiest address is closed, so
/// that nobody keeps others from logging in.
package final class SocketsBeforeLogin: Sendable {
    private struct Waiting {
        let address: String
        let close: @Sendable () -> Void
    }

    private struct State {
        /// By their numbers: the oldest has the lowest.
        var waiting: [Int: Waiting] = [:]
        var next = 0
    }

    private let most: Int
    private let state = LockedValue(State())

    package init(most: Int = 100) { self.most = most }

    /// A place for one more, until it is released or given back.
    /// - Parameters:
    ///   - address: see ``TrustedProxies/client(of:_:)``.
    ///   - close: closes the socket, when it has to make room for another.
    package func enter(from address: String, close: @escaping @Sendable () -> Void) -> SocketPlace {
        let (number, evicted) = state.withLock { state in
            let evicted = state.waiting.count < most ? nil : Self.removeOldestOfBusiest(&state.waiting)
            state.next += 1
            state.waiting[state.next] = Waiting(address: address, close: close)
            return (state.next, evicted)
        }
        evicted?.close()
        return SocketPlace { [state] in state.withLock { $0.waiting[number] = nil } }
    }

    /// Has a socket among them while its client says who it is.
    /// - Parameters:
    ///   - time: how long that may take.
    ///   - late: with what the socket is closed then.
    func hold<Value>(
        _ socket: WebSocket, from address: String, _ time: Duration, _ late: WebSocketClosure, _ clock: WallClock,
        isolation: isolated (any Actor)? = #isolation, _ login: () async throws -> Value
    ) async throws -> Value {
        let place = enter(from: address) {
            socket.close(WebSocketClosure(1013, "Too many are logging in at once, try again"))
        }
        defer { place.giveBack() }
        let end = Task {
            try await clock.sleep(for: time, as: .socketIdle)
            socket.close(late)
        }
        defer { end.cancel() }
        return try await login()
    }

    private static func removeOldestOfBusiest(_ waiting: inout [Int: Waiting]) -> Waiting? {
        let numbers = Dictionary(grouping: waiting.keys) { waiting[$0]?.address }
        let busiest = numbers.values.max { ($0.count, -($0.min() ?? 0)) < ($1.count, -($1.min() ?? 0)) }
        return busiest?.min().flatMap { waiting.removeValue(forKey: $0) }
    }
}
