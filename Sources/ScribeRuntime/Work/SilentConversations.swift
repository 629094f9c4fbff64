package import Logging
package import ScribeDomain
package import ScribeStore
import ServiceLifecycle

/// Ends conversations that have fallen silent, whether or not a device is still connected.
package struct SilentConversations: Service, CustomStringConvertible {
    private let store: Store
    private let conversations: Conversations
    private let clock: ScribeClock
    private let interval: Duration
    private let logger: Logger

    /// - Parameter interval: between one look and the next.
    package init(store: Store, conversations: Conversations, clock: ScribeClock, interval: Duration, logger: Logger) {
        self.store = store
        self.conversations = conversations
        self.clock = clock
        self.interval = interval
        self.logger = logger
    }

    package var description: String { "SilentConversations" }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                // Interrupted by a stop or an error; those in hand are passed over.
                await process { try await store.processingConversations() }
                await process { try await store.overdueConversations(at: clock.now) }
                try? await clock.sleep(for: interval, as: .conversation)
            }
        }
        try? await gracefulShutdown()
    }

    /// One that cannot be ended holds up no other.
    private func process(_ found: () async throws -> [Conversation]) async {
        do {
            for conversation in try await found() {
                do {
                    _ = try await conversations.process(conversation)
                } catch {
                    report(error)
                }
            }
        } catch {
            report(error)
        }
    }

    private func report(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        logger.error("a silent conversation cannot be ended", metadata: ["error": "\(error)"])
    }
}
