import Basics
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
            try await world.sleep(until: world.now + 10, as: .delivery, atMost: .seconds(10))
        } else {
            try await world.sleep(for: .seconds(10), as: .delivery)
        }
        return world.now
    }

    @Test("the world's clock runs at the machine's speed, at the offset to which it was set")
    func offset() {
        let start = manual.now
        #expect(world.now == start)
        world.move(by: 3600)
        manual.advance(by: .seconds(5))
        #expect(world.now == start + 3605 && world.offset == 3600)
        world.move(by: -7200)
        #expect(world.now == start - 3595)
    }

    @Test("a clock that was moved and moved back has changed twice")
    func changes() {
        let before = world.changes
        world.move(by: 60)
        world.move(by: -60)
        #expect(world.changes == before + 2 && world.offset == 0)
        world.freeze()
        world.run(withMachine: true)
        #expect(world.changes == before + 4)
    }

    @Test("what is due at a stopped clock's millisecond is due, by any sum of times", arguments: 1...59)
    func stopped(milliseconds: Int) {
        let begin = Date(timeIntervalSince1970: 1_795_737_600 + Double(milliseconds) / 1000)
        world.freeze(at: begin)
        #expect(world.now >= begin && world.now.timeIntervalSince(begin) < 0.001)
        for seconds in [0.25, 20, 3600] {
            let stored = Date(timeIntervalSince1970: (begin.timeIntervalSince1970 * 1000).rounded() / 1000)
            world.set(to: Date(timeIntervalSince1970: begin.timeIntervalSince1970 + seconds))
            #expect(world.now >= stored.addingTimeInterval(seconds))
            #expect(world.now >= begin + seconds)
        }
        world.freeze(at: begin)
        for _ in 0..<1000 { world.move(by: 0.25) }
        #expect(abs(world.now.timeIntervalSince(begin) - 250) < 0.001, "it does not drift")
    }

    @Test("a sleeper that began between two milliseconds wakes at the due time that a stopped clock tells")
    func between() async throws {
        manual.advance(by: .microseconds(300))
        async let sleeping = sleep()
        try await manual.waitFor(.delivery)
        world.freeze()
        let due = try #require(world.sleepers.first?.due)
        world.set(to: due)
        #expect(try await sleeping >= due)
        #expect(world.sleepers.isEmpty)
    }

    @Test("a sleeper wakes after the machine's time, or when the world's clock is set past its end")
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

    @Test("setting the world's clock forward shortens a sleep, and setting it back lengthens it")
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

    @Test("a sleep by either clock ends by the machine's clock if the world's is set back")
    func eitherClock() async throws {
        let start = manual.now
        async let first = sleep(byEither: true)
        try await manual.waitFor(.delivery)
        world.move(by: -3600)
        manual.advance(by: .seconds(10))
        #expect(try await first == start - 3590)
    }

    @Test("a cancelled sleep ends at once, before or after its start")
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

    @Test("a lifetime ends as soon as it has passed on the world's clock or on the machine's")
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
