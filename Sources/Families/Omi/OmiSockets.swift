import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// The open sockets of each user. A new socket waits for a lost one, so that its words are stored before anybody looks.
final class OmiSockets: Sendable {
    private struct User: Hashable {
        let business: BusinessID
        let id: UserID
    }

    private struct State {
        /// The departures of each user's clients, by socket.
        var open: [User: [Int: Departure]] = [:]
        var next = 0
    }

    private let state = LockedValue(State())

    /// The longest wait for a socket whose client is still connected: it may be the user's second device.
    private static let patience: Duration = .seconds(1)
    /// The longest wait for a lost socket, one whose connection has ended: its words are still being stored.
    private static let patienceWithLost: Duration = .seconds(10)
    private static let step: Duration = .milliseconds(20)

    /// Counts one more socket of a user, until the place is given back: what it holds is stored then.
    /// - Parameter departure: of the socket's client.
    func enter(_ principal: Principal, _ departure: Departure) -> SocketPlace {
        let user = User(business: principal.business, id: principal.user)
        let number = state.withLock { state in
            state.next += 1
            state.open[user, default: [:]][state.next] = departure
            return state.next
        }
        return SocketPlace { [state] in
            state.withLock { state in
                state.open[user]?[number] = nil
                if state.open[user]?.isEmpty == true { state.open[user] = nil }
            }
        }
    }

    /// Returns when a user has no other socket any more, or after a while.
    func waitForOthers(of principal: Principal, _ clock: WallClock) async throws {
        let user = User(business: principal.business, id: principal.user)
        var waited: Duration = .zero
        while let patience = patience(with: user), waited < patience {
            try await clock.sleep(for: Self.step, as: .conversation)
            waited += Self.step
        }
    }

    /// - Returns: nil when the user has no other socket.
    private func patience(with user: User) -> Duration? {
        let open = state.withLock { Array($0.open[user, default: [:]].values) }
        guard open.count > 1 else { return nil }
        return open.contains(where: \.hasHappened) ? Self.patienceWithLost : Self.patience
    }
}
