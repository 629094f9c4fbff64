import Foundation
import ScribeDomain
import TestSupport
import Testing

struct WorldClockTests {
    private let manual = ManualClock()
    private let world: WorldClock

    init() { world = WorldClock(manual.clock) }

    /// Sleeps ten seconds.
    private func sleep(byEither: Bool = false) async throws -> Date {
        if byEither {
            try await world.sleepByEither(for: .seconds(10), as: .delivery)
        } else {
            try await world.sleep(for: .seconds(10), as: .delivery)
        }
        return world.now
    }

    @Test("it runs with the machine's clock, as far ahead as it was set")
    func offset() {
        let start = manual.now
        #expect(world.now == start)
        world.move(by: 3600)
        manual.advance(by: .seconds(5))
        #expect(world.now == start + 3605 && world.offset == 3600)
        world.move(by: -7200)
        #expect(world.now == start - 3595)
    }

    @Test("who sleeps wakes when the machine's time has passed, or when the clock is set beyond it")
    func waking() async throws {
        let start = manual.now
        async let first = sleep()
        try await manual.waitFor(.delivery)
        manual.advance(by: .seconds(10))
        #expect(try await first == start + 10)
        async let second = sleep()
        try await manual.waitFor(.delivery)
        world.move(by: 86_400)
        #expect(try await second == start + 86_410)
    }

    @Test("who sleeps sleeps less when the clock is set forward, and more when it is set back")
    func movedSleeper() async throws {
        let start = manual.now
        async let first = sleep()
        try await manual.waitFor(.delivery)
        world.move(by: 4)
        while manual.nextWaking != start + 6 { await Task.yield() }
        world.move(by: -20)
        while manual.nextWaking != start + 26 { await Task.yield() }
        manual.advance(by: .seconds(26))
        #expect(try await first == start + 10)
    }

    @Test("who wakes by either clock is not kept asleep by one that is set back")
    func eitherClock() async throws {
        let start = manual.now
        async let first = sleep(byEither: true)
        try await manual.waitFor(.delivery)
        world.move(by: -3600)
        manual.advance(by: .seconds(10))
        #expect(try await first == start - 3590)
    }

    @Test("a sleep that is cancelled ends, whenever that is")
    func cancelling() async throws {
        let early = Task { try await sleep() }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        let late = Task { try await sleep() }
        try await manual.waitFor(.delivery)
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        while manual.count(of: .delivery) > 0 { await Task.yield() }
    }

    @Test("what was issued has ended when its lifetime has passed on either clock")
    func lifetime() {
        world.move(by: -40 * 365 * 86_400)
        let (end, offset) = (manual.now.timeIntervalSince1970 + 100, world.offset)
        #expect(!world.hasPassed(end, issuedAt: offset))
        world.move(by: 99)
        #expect(!world.hasPassed(end, issuedAt: offset))
        world.move(by: 1)
        #expect(world.hasPassed(end, issuedAt: offset), "by the world's clock")
        world.move(by: -1000)
        #expect(!world.hasPassed(end, issuedAt: offset), "set back it lives no longer than it should")
        manual.advance(by: .seconds(100))
        #expect(world.hasPassed(end, issuedAt: offset), "by the machine's clock")
    }
}
