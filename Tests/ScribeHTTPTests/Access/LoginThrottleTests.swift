import Basics
import Crypto
import ScribeHTTP
import TestSupport
import Testing

struct LoginThrottleTests {
    private let manual = ManualClock()
    private let throttle: LoginThrottle
    private let checked = LockedValue<[String]>([])

    private struct Refused: Error {}

    init() {
        throttle = LoginThrottle(
            clock: manual.clock, secrets: ClientSecrets(key: SymmetricKey(data: Array(repeating: 1, count: 32))))
    }

    /// Offers a secret, of which only "right" is right.
    private func offer(_ secret: String, from address: String = "a") async throws {
        try await throttle.attempt(secret, of: "client", from: address, orThrow: Refused()) {
            checked.withLock { $0.append(secret) }
            return secret == "right" ? () : nil
        }
    }

    private func failTwentyTimes() async throws {
        for number in 1...20 {
            await #expect(throws: Refused.self) { try await offer("\(number)") }
        }
        checked.withLock { $0 = [] }
    }

    private var secrets: [String] { checked.withLock { $0 } }

    @Test("guesses in parallel are checked one a second, and beyond eight they are refused")
    func parallel() async throws {
        try await failTwentyTimes()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 { group.addTask { try? await offer("guess \(number)") } }
            try await manual.waitFor(8, .failedLogin)
            await #expect(throws: HTTPProblem.tooManyAttempts(retryAfter: 9)) { try await offer("one more") }
            #expect(secrets == [])
            for count in 1...8 {
                manual.advance(by: .seconds(1))
                _ = try await group.next()
                #expect(secrets.count == count)
            }
        }
    }

    @Test("guesses that begin at the same time are counted before they are checked")
    func simultaneous() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...20 {
                group.addTask {
                    try? await throttle.attempt("\(number)", of: "client", from: "a", orThrow: Refused()) {
                        try await manual.clock.sleep(for: .seconds(1), as: .fixture)
                        return Void?.none
                    }
                }
            }
            try await manual.waitFor(20, .fixture)
            group.addTask { try? await offer("the next") }
            try await manual.waitFor(.failedLogin)
            manual.advance(by: .seconds(1))
            try await group.waitForAll()
        }
    }

    @Test("a secret that was right from an address passes there, and waits in no other place")
    func known() async throws {
        try await offer("right")
        try await failTwentyTimes()
        try await offer("right")
        await #expect(throws: Refused.self) { try await offer("a guess, for it begins anew") }
        for _ in 1...20 { await #expect(throws: Refused.self) { try await offer("wrong", from: "b") } }
        async let waiting: Void = offer("right", from: "b")
        try await manual.waitFor(.failedLogin)
        manual.advance(by: .seconds(1))
        try await waiting
    }

    @Test("attempts with the same secret wait in one place")
    func sameSecret() async throws {
        try await failTwentyTimes()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...50 { group.addTask { try await offer("right") } }
            try await manual.waitFor(50, .failedLogin)
            manual.advance(by: .seconds(1))
            try await group.waitForAll()
        }
    }

    @Test("attempts whose clients leave hold up no other")
    func leaving() async throws {
        try await failTwentyTimes()
        for number in 1...100 {
            let task = Task { try await offer("guess \(number)") }
            try await manual.waitFor(.failedLogin)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        async let waiting: Void = offer("right")
        try await manual.waitFor(.failedLogin)
        manual.advance(by: .seconds(1))
        try await waiting
    }

    @Test("failures are forgotten after fifteen minutes")
    func memory() async throws {
        try await failTwentyTimes()
        manual.advance(by: .seconds(15 * 60))
        await #expect(throws: Refused.self) { try await offer("guess") }
    }
}
