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

    func run() async throws {
        let failure = "another server's question about sockets failed"
        await clock.recurring(every: .milliseconds(250), as: .socketDrain, failure: failure, logger) {
            guard !streams.isEmpty else { return }
            for (key, question) in try await store.transactions.askedStreams() {
                try await streams.answer(question, about: key)
                try await store.transactions.answerStream(key)
            }
        }
    }
}
