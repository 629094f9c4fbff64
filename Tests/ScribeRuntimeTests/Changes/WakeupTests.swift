import Basics
import FoundationEssentials
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime

struct WakeupTests {
    let wakeup = Wakeup(for: .delivery)
    let manual = ManualClock()

    @Test("an interruption ends one wait, before it or during it, and is no wake-up")
    func interruption() async throws {
        wakeup.interrupt()
        #expect(try await !wakeup.wait())
        async let second = wakeup.wait(until: manual.world.now.addingTimeInterval(60), clock: manual.world)
        try await manual.waitFor(.delivery)
        wakeup.interrupt()
        #expect(try await !second)
        #expect(!wakeup.take())
    }

    @Test("a cancelled wait throws, and keeps the wake-up that came with it for the next wait")
    func cancellation() async throws {
        let waiting = Task { try await wakeup.wait() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        wakeup.wake()
        #expect(try await wakeup.wait())
    }

    @Test("a wait ends at its time on the machine's clock while the world's clock stands still, and leaves no sleeper")
    func machineLimit() async throws {
        manual.world.freeze()
        let end = manual.world.now.addingTimeInterval(3600)
        async let wait = wakeup.wait(until: end, atMostByMachine: .seconds(60), clock: manual.world)
        try await manual.waitFor(.delivery)
        manual.advance(by: .seconds(60))
        #expect(try await !wait)
        #expect(manual.world.sleepers.isEmpty)
    }

    @Test("a wait that a wake-up ends leaves no sleeper")
    func timer() async throws {
        async let wait = wakeup.wait(until: manual.world.now.addingTimeInterval(60), clock: manual.world)
        try await manual.waitFor(.delivery)
        wakeup.wake()
        #expect(try await wait)
        #expect(manual.world.sleepers.isEmpty)
    }
}
