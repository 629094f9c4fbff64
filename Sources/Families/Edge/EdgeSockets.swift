import ScribeDomain
import ScribeHTTP

/// Who is connected, so that what a lost connection still holds is stored before the next one is asked for what is there.
final class EdgeSockets: Sendable {
    private struct User: Hashable {
        let business: BusinessID
        let id: UserID
    }

    private let open = LockedValue<[User: Int]>([:])

    /// A device that is connected twice waits so long for itself.
    private static let patience: Duration = .seconds(1)
    private static let step: Duration = .milliseconds(20)

    /// A user has one more socket, until it is given back: what it holds is stored then.
    func enter(_ principal: Principal) -> SocketPlace {
        let user = User(business: principal.business, id: principal.user)
        open.withLock { $0[user, default: 0] += 1 }
        return SocketPlace { [open] in
            open.withLock { open in
                open[user, default: 1] -= 1
                if open[user] == 0 { open[user] = nil }
            }
        }
    }

    /// Returns when a user has no other socket any more, or after a while: it may well be another device.
    func waitForOthers(of principal: Principal, _ clock: ScribeClock) async throws {
        let user = User(business: principal.business, id: principal.user)
        var waited: Duration = .zero
        while open.withLock({ $0[user, default: 0] }) > 1, waited < Self.patience {
            try await clock.sleep(for: Self.step, as: .conversation)
            waited += Self.step
        }
    }
}
