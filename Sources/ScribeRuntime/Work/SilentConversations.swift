import Foundation
package import Logging
package import ScribeDomain
package import ScribeStore
import ServiceLifecycle

/// Ends conversations that have fallen silent, whether or not a device is still connected.
package struct SilentConversations: Service, CustomStringConvertible {
    private let store: Store
    private let conversations: Conversations
    private let loop: DueLoop?
    private let logger: Logger

    /// After a failure, and where another is ending the same one.
    private static let retry: TimeInterval = 5

    package init(
        store: Store, conversations: Conversations, changes: ChangeHub, clock: WorldClock, logger: Logger
    ) {
        self.store = store
        self.conversations = conversations
        self.logger = logger
        loop = changes.timers[.silence].map { DueLoop(bell: $0, clock: clock) }
    }

    package var description: String { "SilentConversations" }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await loop?.run {
                let now = loop?.clock.now ?? .distantPast
                guard (try? await store.holds(.silence)) == true else { return now.addingTimeInterval(60) }
                // Interrupted by a stop or an error; those in hand are passed over.
                var isDone = await process { try await store.processingConversations() }
                isDone = await process { try await store.overdueConversations(at: now) } && isDone
                let later = now.addingTimeInterval(Self.retry)
                do {
                    // What is still there has failed, is in hand, or was one too many: not at once again.
                    let next = try await store.nextSilence().map { $0 <= now ? later : $0 }
                    let isLeft = try await !store.processingConversations().isEmpty
                    return isDone && !isLeft ? next : min(next ?? later, later)
                } catch {
                    report(error)
                    return later
                }
            }
        }
        try? await gracefulShutdown()
    }

    /// One that cannot be ended holds up no other.
    /// - Returns: false where one could not be ended.
    private func process(_ found: () async throws -> [Conversation]) async -> Bool {
        var isDone = true
        do {
            for conversation in try await found() {
                do {
                    _ = try await conversations.process(conversation)
                } catch {
                    report(error)
                    isDone = false
                }
            }
        } catch {
            report(error)
            isDone = false
        }
        return isDone
    }

    private func report(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        logger.error("a silent conversation cannot be ended", metadata: ["error": "\(error)"])
    }
}
