import Foundation
package import ScribeDomain

/// Limits guesses of secrets, per client and address.
///
/// After 20 failures in a row, the client may try once a second from that address; other attempts are refused.
/// Successful logins do not count, and wait only for such a pending guess.
package final class LoginThrottle: Sendable {
    /// Failures in a row without a pause.
    private static let freeFailures = 20
    private static let pause: Duration = .seconds(1)
    /// Time after which a failure is forgotten, in seconds.
    private static let memory = 15.0 * 60
    private static let mostEntries = 10_000

    private struct Key: Hashable {
        let client: String
        let address: String
    }

    private struct Entry {
        var failures: Int
        var last: Date
        var isPausing = false
    }

    private let entries = LockedValue<[Key: Entry]>([:])
    private let clock: WallClock

    package init(clock: WallClock) { self.clock = clock }

    /// Runs a login attempt within the limit.
    /// - Parameters:
    ///   - client: Client whose secret is checked.
    ///   - address: See ``TrustedProxies/client(of:_:)``.
    ///   - refusal: Thrown for a wrong secret.
    ///   - login: Checks the secret; nil for an unknown client or a wrong secret.
    /// - Throws: `refusal`, ``HTTPProblem/tooManyAttempts(retryAfter:)``, and the errors of `login`.
    package func attempt<Value>(
        _ client: String, from address: String, orThrow refusal: any Error, _ login: () async throws -> Value?
    ) async throws -> Value {
        // Bounds the memory for one key.
        let key = Key(client: String(client.prefix(255)), address: address)
        guard entries.withLock({ $0[key]?.isPausing != true }) else {
            throw HTTPProblem.tooManyAttempts(retryAfter: 1)
        }
        if let value = try await login() {
            entries.withLock { $0[key] = nil }
            return value
        }
        guard fail(key) else { throw refusal }
        defer { entries.withLock { $0[key]?.isPausing = false } }
        try? await clock.sleep(for: Self.pause, as: .failedLogin)
        throw HTTPProblem.tooManyAttempts(retryAfter: 1)
    }

    /// Counts a failure.
    /// - Returns: Whether the attempts now need pauses.
    private func fail(_ key: Key) -> Bool {
        let now = clock.now
        return entries.withLock { entries in
            if entries.count >= Self.mostEntries {
                entries = entries.filter { now.timeIntervalSince($0.value.last) < Self.memory }
                if entries.count >= Self.mostEntries { entries.removeAll() }
            }
            var entry = entries[key] ?? Entry(failures: 0, last: now)
            if now.timeIntervalSince(entry.last) >= Self.memory { entry.failures = 0 }
            entry.failures += 1
            entry.last = now
            entry.isPausing = entry.failures > Self.freeFailures
            entries[key] = entry
            return entry.isPausing
        }
    }
}
