package import Foundation

/// Clock of the machine, with a sleep by that clock.
///
/// The wall clock serves times that other machines compare or sign, and waits for other machines: tokens, signatures,
/// certificates, connections, sockets, recognisers and receivers. Domain decisions use a ``WorldClock``.
///
/// The composition root injects the clock everywhere, so that a test can drive it by hand.
package struct WallClock: Sendable {
    private let currentTime: @Sendable () -> Date
    private let wait: @Sendable (Duration, Sleeper) async throws -> Void

    /// Label of a sleeping task, without effect. Tests wait for a task by its label, and a hang shows the label.
    package enum Sleeper: String, Sendable {
        /// Poll for results or for a chunk's transcript.
        case heldPoll = "held poll"
        /// Job runner until the next job is due.
        case jobRunner = "job runner"
        /// Job runner until the next attempt after a store failure.
        case storeRetry = "another attempt at the store"
        /// Time limit of a recognition.
        case timeLimit = "time limit"
        /// Fixture with a delayed answer.
        case fixture
        /// Delay of a fault rule.
        case fault
        /// Wait for an exchange in the journal, or its silence.
        case console
        case journal
        /// Last lines of the log.
        case log
        /// Delay after too many failed logins.
        case failedLogin = "failed login"
        /// Periodic removal of abandoned uploads.
        case sweep
        /// Search for idle namespaces, and the end of a removed one.
        case namespaces
        /// Ping to a silent client on a socket.
        case socketPing = "question to a silent socket"
        /// Timeout of a live recognition without audio.
        case socketIdle = "idle socket"
        /// Last messages of a socket after its session has ended.
        case socketDrain = "last words of a socket"
        /// Check whether silence has ended a conversation.
        case conversation
        /// Keep-alive to a live speech service, or the next connection attempt.
        case upstream
        /// Next attempt at a delivery.
        case delivery
        /// Next expiry of a session.
        case expiry
        /// Check for a new certificate.
        case certificate
        /// Check for changes of the clients file.
        case clientsFile = "clients file"
        /// Next probe of a recogniser.
        case engineProbe = "question to an engine"
        /// Wait for room in the memory budget.
        case memory = "room in memory"
        /// Brake for audio that arrives faster than it is consumed.
        case pace = "pace of a stream"
        /// Check whether the server is ready.
        case readiness
        /// Look for the end of the parent process, and the time that its end leaves a command.
        case parent = "parent process"
        /// Look at what an advanced clock has made due.
        case advance = "advanced clock"
        /// Renewal of the leases of a process.
        case lease
    }

    /// Creates a clock.
    /// - Parameters:
    ///   - now: returns the machine's time.
    ///   - sleep: returns after the duration, or throws `CancellationError` at once if its task is cancelled. The
    ///     second argument labels the sleeping task.
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
