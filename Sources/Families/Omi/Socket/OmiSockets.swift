import Basics
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Tracks the open sockets of each user, so that a new socket can wait until the previous socket's words are stored.
final class OmiSockets: Sendable {
    private struct User: Hashable {
        let business: BusinessID
        let id: UserID
    }

    private struct State {
        /// Disconnect signal of each socket's client, by user and socket number.
        var open: [User: [Int: OneShotSignal]] = [:]
        var next = 0
    }

    private let state = LockedValue(State())

    /// Longest wait for a socket whose client is still connected; it may be the user's second device.
    private static let longestWait: Duration = .seconds(1)
    /// Longest wait for a socket whose connection has ended, while its words are stored.
    private static let longestWaitAfterDisconnect: Duration = .seconds(10)
    private static let pollInterval: Duration = .milliseconds(20)

    /// Registers a socket until the returned place is given back. Give it back after the socket's words are stored.
    /// - Parameter clientDisconnect: Disconnect signal of the socket's client.
    func register(_ principal: Principal, _ clientDisconnect: OneShotSignal) -> SocketPlace {
        let user = User(business: principal.business, id: principal.user)
        let number = state.withLock { state in
            state.next += 1
            state.open[user, default: [:]][state.next] = clientDisconnect
            return state.next
        }
        return SocketPlace { [state] in
            state.withLock { state in
                state.open[user]?[number] = nil
                if state.open[user]?.isEmpty == true { state.open[user] = nil }
            }
        }
    }

    /// Waits until the user has no other socket: at most 10 s if one of them has disconnected, otherwise at most 1 s.
    /// Call ``register(_:_:)`` first.
    func awaitOtherSockets(of principal: Principal, _ clock: WallClock) async throws {
        let user = User(business: principal.business, id: principal.user)
        var waited: Duration = .zero
        while let limit = longestWait(with: user), waited < limit {
            try await clock.sleep(for: Self.pollInterval, as: .conversation)
            waited += Self.pollInterval
        }
    }

    /// Longest wait for the user's other sockets; nil without any.
    private func longestWait(with user: User) -> Duration? {
        let open = state.withLock { Array($0.open[user, default: [:]].values) }
        guard open.count > 1 else { return nil }
        return open.contains(where: \.hasFired) ? Self.longestWaitAfterDisconnect : Self.longestWait
    }
}
