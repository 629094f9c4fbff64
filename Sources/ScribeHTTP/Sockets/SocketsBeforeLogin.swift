import Basics
import Connections

/// Limits sockets that are not authenticated yet.
///
/// Beyond the limit the oldest socket of the busiest address is closed, so that no client keeps others from logging in.
package final class SocketsBeforeLogin: Sendable {
    private struct Waiting {
        let address: String
        let close: @Sendable () -> Void
    }

    private struct State {
        /// Waiting sockets by number: the oldest has the lowest.
        var waiting: [Int: Waiting] = [:]
        var next = 0
    }

    private let most: Int
    private let state = LockedValue(State())

    package init(most: Int = 100) { self.most = most }

    /// Takes a place for one socket, until the place is given back.
    /// - Parameters:
    ///   - address: See ``TrustedProxies/client(of:_:)``.
    ///   - close: Closes the socket, to make room for another.
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

    /// Holds a place while a socket's client logs in.
    /// - Parameters:
    ///   - time: Longest time for the login.
    ///   - late: Closure after that time.
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
