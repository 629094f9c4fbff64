import Basics
import Logging
import ScribeHTTP
import ScribeStore
import ServiceLifecycle

/// Lets clients log in that the operator API of another server has added, and refuses the access tokens of logins that
/// another server has ended: looks every two seconds.
struct SeededClientsWatch: Service {
    let store: Store
    let clients: KnownClients
    let clock: WallClock
    let logger: Logger

    func run() async throws {
        let known = LockedValue<Int?>(nil)
        await clock.recurring(every: .seconds(2), as: .clientsFile, failure: "clients cannot be read", logger) {
            let generation = try await store.accounts.clientsGeneration()
            guard generation != known.withLock({ $0 }) else { return }
            clients.replaceSeeded(with: try await store.transactions.seededClients())
            clients.end(logins: try await store.accounts.endedLogins())
            known.withLock { $0 = generation }
        }
    }
}
