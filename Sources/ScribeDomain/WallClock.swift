package import Foundation

/// The machine's time, and a way to wait by it.
///
/// It serves whatever others compare with a clock of their own or sign over, and whatever waits for another machine: the
/// times in tokens and signatures, certificates, connections and sockets, recognisers and receivers. What the domain
/// decides has a ``WorldClock``.
///
/// The composition root makes it and hands it to everything that needs it, so that a test can drive it by hand.
package struct WallClock: Sendable {
    private let currentTime: @Sendable () -> Date
    private let wait: @Sendable (Duration, Sleeper) async throws -> Void

    /// Who waits. It changes nothing; a test says with it whom it waits for, and a hang whom it waited for.
    package enum Sleeper: String, Sendable {
        /// A poll for results or for what was heard in a chunk.
        case heldPoll = "held poll"
        /// The job runner, for the next job that falls due.
        case jobRunner = "job runner"
        /// The job runner, until a store that failed is tried again.
        case storeRetry = "another attempt at the store"
        /// What ends a recognition that takes too long.
        case timeLimit = "time limit"
        /// A fixture that answers late.
        case fixture
        /// A login that failed once too often.
        case failedLogin = "failed login"
        /// What forgets abandoned uploads now and then.
        case sweep
        /// A question to a client that says nothing on its socket.
        case socketPing = "question to a silent socket"
        /// The end of a live recognition that gets nothing to hear.
        case socketIdle = "idle socket"
        /// The last words of a socket whose session is ended.
        case socketDrain = "last words of a socket"
        /// A look whether silence has ended a conversation.
        case conversation
        /// A sign of life to a service that listens, and another attempt to reach it.
        case upstream
        /// The next attempt at a delivery.
        case delivery
        /// The next session whose time will be over.
        case expiry
        /// A look whether there is another certificate.
        case certificate
        /// A look whether the clients file has changed.
        case clientsFile = "clients file"
        /// The next question whether a recogniser can be reached.
        case recogniserProbe = "question to a recogniser"
        /// Room in the memory for clients.
        case memory = "room in memory"
        /// Audio that comes faster than it is taken.
        case pace = "pace of a stream"
        /// A look whether the server is ready.
        case readiness
    }

    /// - Parameters:
    ///   - now: the machine's time.
    ///   - sleep: returns after the duration, or throws `CancellationError` at once when its task is cancelled. Gets
    ///     told for whom it is.
    package init(
        now: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration, Sleeper) async throws -> Void
    ) {
        self.currentTime = now
        self.wait = sleep
    }

    package var now: Date { currentTime() }

    package func sleep(for duration: Duration, as sleeper: Sleeper) async throws { try await wait(duration, sleeper) }
}
