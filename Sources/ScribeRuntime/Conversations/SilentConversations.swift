import Foundation
package import Logging
package import ScribeDomain
package import ScribeStore
import ServiceLifecycle

/// Ends conversations after their silence timeout, also while a device is connected.
package struct SilentConversations: Service {
    private let store: Store
    private let conversations: Conversations
    private let loop: DueLoop?
    private let logger: Logger

    /// Pause before the next try, in seconds: after a failure, or while another task ends the same conversation.
    private static let retry: TimeInterval = 5

    package init(
        store: Store, conversations: Conversations, changes: ChangeHub, clock: WorldClock, logger: Logger
    ) {
        self.store = store
        self.conversations = conversations
        self.logger = logger
        loop = changes.timers[.silence].map { DueLoop(wakeup: $0, clock: clock) }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await loop?.run {
                let now = loop?.clock.now ?? .distantPast
                guard (try? await store.work.holds(.silence)) == true else { return now.addingTimeInterval(60) }
                // First the conversations whose processing a stop or an error has interrupted. Conversations that
                // another task processes are skipped.
                var isDone = await process { try await store.conversations.processingConversations() }
                isDone = await process { try await store.conversations.overdueConversations(at: now) } && isDone
                let later = now.addingTimeInterval(Self.retry)
                do {
                    // Conversations left over have failed, are in progress, or were over the limit. They wait for the
                    // retry pause.
                    let next = try await store.conversations.nextSilence().map { $0 <= now ? later : $0 }
                    let isLeft = try await !store.conversations.processingConversations().isEmpty
                    return isDone && !isLeft ? next : min(next ?? later, later)
                } catch {
                    report(error)
                    return later
                }
            }
        }
        try? await gracefulShutdown()
    }

    /// Ends each conversation that `found` returns. After a failure the next conversation follows.
    /// - Returns: false if a conversation could not be ended, or `found` failed.
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
