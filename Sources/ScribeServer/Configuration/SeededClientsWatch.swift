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

    private static let pause: Duration = .seconds(2)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var known: Int?
            while (try? await clock.sleep(for: Self.pause, as: .clientsFile)) != nil {
                do {
                    let generation = try await store.accounts.clientsGeneration()
                    guard generation != known else { continue }
                    clients.replaceSeeded(with: try await store.transactions.seededClients())
                    clients.end(logins: try await store.accounts.endedLogins())
                    known = generation
                } catch {
                    guard !(error is CancellationError) else { return }
                    logger.error("clients cannot be read", metadata: ["error": "\(error)"])
                }
            }
        }
        try? await gracefulShutdown()
    }
}
