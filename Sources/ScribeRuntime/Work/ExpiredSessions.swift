import FoundationEssentials
package import Logging
package import ScribeDomain
package import ScribeStore
import ServiceLifecycle

/// Expires recordings that their client did not end within their lifetime, and raises their `expired` event.
package struct ExpiredSessions: Service {
    private let store: Store
    private let loop: DueLoop?
    private let logger: Logger

    package init(store: Store, changes: ChangeHub, clock: WorldClock, logger: Logger) {
        self.store = store
        self.logger = logger
        loop = changes.timers[.expiry].map { DueLoop(wakeup: $0, clock: clock) }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await loop?.run {
                let now = loop?.clock.now ?? .distantPast
                do {
                    guard try await store.work.holds(.expiry) else { return now.addingTimeInterval(60) }
                    let (next, unreadable) = try await store.transactions.expireSessions(at: now)
                    for id in unreadable {
                        logger.error("a session that has expired cannot be read", metadata: ["txn_id": "\(id.logged)"])
                    }
                    return next
                } catch is CancellationError {
                    return nil
                } catch {
                    logger.error("sessions cannot be ended", metadata: ["error": "\(error)"])
                    return now.addingTimeInterval(60)
                }
            }
        }
        try? await gracefulShutdown()
    }
}
