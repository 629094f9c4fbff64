package import Foundation

/// The one source of time: wall time for records and signatures, and a way to wait.
///
/// Made by the composition root and handed to everything that needs it, so that a test can drive it by hand.
package struct ScribeClock: Sendable {
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
    ///   - now: the wall time.
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

/// The one source of identifiers and randomness. Secrets never come from a seeded source.
package struct IdentifierSource: Sendable {
    private let makeUUID: @Sendable () -> UUID
    private let makeBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - uuid: a fresh UUID on every call.
    ///   - bytes: that many bytes fit for secrets.
    package init(
        uuid: @escaping @Sendable () -> UUID,
        bytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.makeUUID = uuid
        self.makeBytes = bytes
    }

    /// A fresh UUID in lower case.
    package func uuid() -> String { makeUUID().uuidString.lowercased() }

    package func bytes(_ count: Int) -> [UInt8] { makeBytes(count) }
}
