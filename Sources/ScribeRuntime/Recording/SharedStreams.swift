package import Basics
import Foundation
import ScribeDomain
package import ScribeStore

/// Sockets that other servers have open for the same sessions.
package struct SharedStreams: Sendable {
    /// Longest time that the end of a session waits for other servers.
    private static let patience: Duration = .seconds(2)
    private static let pause: Duration = .milliseconds(50)

    private let store: Store
    private let clock: WallClock

    /// - Returns: nil where no other server shares the data.
    package init?(_ store: Store, clock: WallClock) {
        guard store.transactions.sharesStreams else { return nil }
        self.store = store
        self.clock = clock
    }

    func add(_ key: Transaction.Key) async throws { try await store.transactions.addOpenStream(key) }

    func remove(_ key: Transaction.Key) async throws { try await store.transactions.removeOpenStream(key) }

    /// Lets the other servers store the pending audio of a session, at most two seconds. A server that does not answer
    /// is taken for dead.
    func settle(_ key: Transaction.Key, because question: TransactionStore.StreamQuestion) async throws {
        guard try await store.transactions.askForStreams(key, because: question) > 0 else { return }
        let end = clock.now.addingTimeInterval(Self.patience / .seconds(1))
        while clock.now < end {
            guard try await store.transactions.unansweredStreams(key) > 0 else { return }
            try await clock.sleep(for: Self.pause, as: .socketDrain)
        }
        try await store.transactions.forgetUnansweredStreams(key)
    }
}
