import Basics
import Logging
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// Stores the pending audio of open sockets when another server ends their session or has a new socket of it. It looks
/// four times a second, while there are sockets.
struct StreamQuestions: Service {
    let store: Store
    let streams: SessionStreams
    let clock: WallClock
    let logger: Logger

    private static let pause: Duration = .milliseconds(250)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await clock.sleep(for: Self.pause, as: .socketDrain)) != nil {
                guard !streams.isEmpty else { continue }
                do {
                    for (key, question) in try await store.transactions.askedStreams() {
                        try await streams.answer(question, about: key)
                        try await store.transactions.answerStream(key)
                    }
                } catch {
                    guard !(error is CancellationError) else { return }
                    logger.error("another server's question about sockets failed", metadata: ["error": "\(error)"])
                }
            }
        }
        try? await gracefulShutdown()
    }
}
