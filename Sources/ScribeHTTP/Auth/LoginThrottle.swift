import Foundation
package import ScribeDomain

/// Slows down who guesses secrets: after some failures in a row of one client from one address, only one attempt of
/// theirs is looked at in a second, and the others are refused. One that is right is not counted, and waits for nobody
/// but such a guess.
package final class LoginThrottle: Sendable {
    /// How many failures in a row cost nothing.
    private static let freeFailures = 20
    private static let pause: Duration = .seconds(1)
    /// After that a failure is forgotten, in seconds.
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

    /// - Parameters:
    ///   - client: whose secret is shown.
    ///   - address: see ``TrustedProxies/client(of:_:)``.
    ///   - refusal: is thrown for a wrong secret.
    ///   - login: nil for an unknown client or a wrong secret.
    /// - Throws: `refusal`, ``HTTPProblem/tooManyAttempts(retryAfter:)``, and what `login` throws.
    package func attempt<Value>(
        _ client: String, from address: String, orThrow refusal: any Error, _ login: () async throws -> Value?
    ) async throws -> Value {
        // Whatever the length, it is a key here.
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

    /// - Returns: whether there were too many.
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
