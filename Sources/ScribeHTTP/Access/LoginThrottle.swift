package import Basics
import Foundation
import ScribeDomain

/// Limits guesses of secrets, per client and address.
///
/// After 20 failures in a row, the attempts from that address wait for a check each second, right or wrong. Secrets
/// that have succeeded from the address do not wait. Attempts with the same secret count as one, so that clients may
/// log in at the same time.
package final class LoginThrottle: Sendable {
    /// The name that stands for a client where operators send their token.
    package static let operators = "operators"
    /// Failures in a row without a pause.
    private static let freeFailures = 20
    private static let pause = 1.0
    /// Most secrets that wait for their check.
    private static let maxWaiting = 8
    /// Time after which a failure is forgotten, in seconds.
    private static let memory = 15.0 * 60
    private static let maxEntries = 10_000

    private struct Key: Hashable {
        let client: String
        let address: String
    }

    /// A secret that is checked, or waits for it.
    private struct Check {
        let time: Date
        var attempts = 0
    }

    private struct Entry {
        var failures = 0
        /// Time of the last failure.
        var last: Date
        /// By the hash of the secret.
        var checks: [[UInt8]: Check] = [:]
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// Hashes of secrets that have succeeded.
        var known: Set<[UInt8]> = []
    }

    private let state = LockedValue(State())
    private let clock: WallClock
    private let secrets: ClientSecrets

    /// - Parameter secrets: Hashes the secrets that the throttle remembers.
    package init(clock: WallClock, secrets: ClientSecrets) {
        self.clock = clock
        self.secrets = secrets
    }

    /// Runs a login attempt within the limit.
    /// - Parameters:
    ///   - secret: The offered secret.
    ///   - client: Client whose secret is checked.
    ///   - address: See ``TrustedProxies/client(of:_:)``.
    ///   - refusal: Thrown for a wrong secret.
    ///   - login: Checks the secret; nil for an unknown client or a wrong secret.
    /// - Throws: `refusal`, ``HTTPProblem/tooManyAttempts(retryAfter:)`` if too many wait, `CancellationError`, and
    ///   the errors of `login`.
    package func attempt<Value>(
        _ secret: String, of client: String, from address: String, orThrow refusal: any Error,
        _ login: () async throws -> Value?
    ) async throws -> Value {
        // Bounds the memory for one key.
        let key = Key(client: String(client.prefix(255)), address: address)
        let hash = secrets.hash(of: secret, of: ClientID("\(key.client)\u{0}\(key.address)"))
        let wait = try begin(key, hash)
        // An attempt that ends early proves nothing.
        var isRight: Bool?
        defer { end(key, hash, isRight: isRight) }
        if wait > 0 { try await clock.sleep(for: .seconds(wait), as: .failedLogin) }
        let value = try await login()
        isRight = value != nil
        guard let value else { throw refusal }
        return value
    }

    /// - Returns: Seconds until the secret may be checked.
    private func begin(_ key: Key, _ hash: [UInt8]) throws(HTTPProblem) -> Double {
        let now = clock.now
        return try state.withLock { state throws(HTTPProblem) in
            var entry = state.entries[key] ?? Entry(last: now)
            if now.timeIntervalSince(entry.last) >= Self.memory { entry.failures = 0 }
            if entry.checks[hash] == nil {
                var time = now
                if !state.known.contains(hash), entry.failures + entry.checks.count >= Self.freeFailures {
                    let latest = entry.checks.values.reduce(entry.last) { max($0, $1.time) }
                    time = max(now, latest.addingTimeInterval(Self.pause))
                    guard entry.checks.values.count(where: { $0.time > now }) < Self.maxWaiting else {
                        throw .tooManyAttempts(retryAfter: Int(saturating: time.timeIntervalSince(now).rounded(.up)))
                    }
                }
                entry.checks[hash] = Check(time: time)
            }
            entry.checks[hash]?.attempts += 1
            if state.entries.count >= Self.maxEntries, state.entries[key] == nil {
                state.entries = state.entries.filter {
                    !$0.value.checks.isEmpty || now.timeIntervalSince($0.value.last) < Self.memory
                }
                if state.entries.count >= Self.maxEntries { state.entries = [:] }
            }
            state.entries[key] = entry
            return entry.checks[hash]?.time.timeIntervalSince(now) ?? 0
        }
    }

    private func end(_ key: Key, _ hash: [UInt8], isRight: Bool?) {
        let now = clock.now
        state.withLock { state in
            var entry = state.entries[key] ?? Entry(last: now)
            entry.checks[hash]?.attempts -= 1
            if entry.checks[hash]?.attempts == 0 { entry.checks[hash] = nil }
            if isRight == true {
                entry.failures = 0
                if state.known.count >= Self.maxEntries { state.known.removeFirst() }
                state.known.insert(hash)
            } else if isRight == false {
                entry.failures += 1
                entry.last = now
                state.known.remove(hash)
            }
            state.entries[key] = entry.failures > 0 || !entry.checks.isEmpty ? entry : nil
        }
    }
}
