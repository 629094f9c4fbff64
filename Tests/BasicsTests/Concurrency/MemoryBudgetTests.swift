import Basics
import TestSupport
import Testing

struct MemoryBudgetTests {
    private let manual = ManualClock()
    private let one = "one"
    private let other = "other"

    private func budget() -> MemoryBudget { MemoryBudget(limit: 800, free: 0, clock: manual.clock) }

    @Test("a business alone may use seven eighths of the memory budget, and half if another uses any")
    func halves() {
        let budget = budget()
        let first = MemoryShare(of: budget, for: one)
        #expect(!first.takeAtOnce(701))
        #expect(first.takeAtOnce(700))
        let second = MemoryShare(of: budget, for: other)
        #expect(!second.takeAtOnce(101), "there is no more")
        #expect(second.takeAtOnce(100))
        first.hold(300)
        let third = MemoryShare(of: budget, for: one)
        #expect(!third.takeAtOnce(101))
        #expect(third.takeAtOnce(100))
        #expect(second.takeAtOnce(300))
        #expect(budget.total == 800)
    }

    @Test("requests wait for free memory in the order in which they came")
    func waiting() async throws {
        let budget = budget()
        let holder = MemoryShare(of: budget, for: one)
        try await holder.take(600)
        let order = LockedValue<[Int]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            @Sendable func take(_ number: Int) async throws {
                let share = MemoryShare(of: budget, for: one)
                try await share.take(400)
                order.withLock { $0.append(number) }
            }
            group.addTask { try await take(1) }
            try await manual.waitFor(.memory)
            group.addTask { try await take(2) }
            try await manual.waitFor(.memory, .memory)
            holder.hold(100)
            try await group.waitForAll()
        }
        let found = order.withLock { $0 }
        #expect(found == [1, 2])
        #expect(budget.total == 100)
    }

    @Test("small takers do not starve a large one that waits, except those that hold memory already")
    func fairness() async throws {
        let budget = budget()
        let holder = MemoryShare(of: budget, for: one)
        let growing = MemoryShare(of: budget, for: other)
        try await holder.take(300)
        try await growing.take(300)
        let large = MemoryShare(of: budget, for: "third")
        async let taking: Void = large.take(300)
        try await manual.waitFor(.memory)
        #expect(!MemoryShare(of: budget, for: one).takeAtOnce(10), "it came later")
        #expect(growing.takeAtOnce(10), "its end is waited for")
        async let later: Void = MemoryShare(of: budget, for: one).take(10)
        try await manual.waitFor(.memory, .memory)
        growing.hold(100)
        try await taking
        try await later
        #expect(budget.total == 700)
    }

    @Test("a taker that waits for its own business holds up no other business")
    func ownLimit() async throws {
        let budget = budget()
        let holder = MemoryShare(of: budget, for: one)
        let guest = MemoryShare(of: budget, for: other)
        try await holder.take(300)
        try await guest.take(100)
        let large = MemoryShare(of: budget, for: one)
        let taking = Task { try await large.take(200) }
        try await manual.waitFor(.memory)
        #expect(MemoryShare(of: budget, for: "third").takeAtOnce(10))
        #expect(!MemoryShare(of: budget, for: one).takeAtOnce(10), "it is of the same business")
        taking.cancel()
        await #expect(throws: CancellationError.self) { try await taking.value }
        #expect(MemoryShare(of: budget, for: one).takeAtOnce(10), "nobody waits any more")
    }

    @Test("a request that waits ten seconds for memory is refused")
    func exhaustion() async throws {
        let budget = budget()
        let holder = MemoryShare(of: budget, for: one)
        try await holder.take(700)
        let share = MemoryShare(of: budget, for: other)
        let taking = Task { try await share.take(200) }
        try await manual.waitFor(.memory)
        manual.advance(by: .seconds(10))
        await #expect(throws: MemoryBudget.Exhausted.self) { try await taking.value }
        #expect(share.count == 0)
        #expect(budget.total == 700)
    }

    @Test("a request for more memory than a business may use is refused at once")
    func never() async throws {
        let share = MemoryShare(of: budget(), for: one)
        await #expect(throws: MemoryBudget.Exhausted.self) { try await share.take(701) }
    }

    @Test("a request that is cancelled while it waits for memory takes none")
    func cancellation() async throws {
        let budget = budget()
        let holder = MemoryShare(of: budget, for: one)
        try await holder.take(700)
        let task = Task { try await MemoryShare(of: budget, for: other).take(200) }
        try await manual.waitFor(.memory)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        holder.hold(0)
        #expect(budget.total == 0)
    }

    @Test("a share's memory is released at its end, and is counted for a business once that is known")
    func holders() {
        let budget = budget()
        do {
            let stranger = MemoryShare(of: budget)
            #expect(stranger.takeAtOnce(300))
            let share = MemoryShare(of: budget, for: one)
            #expect(share.takeAtOnce(300))
            stranger.belong(to: one)
            #expect(budget.total == 600)
            #expect(!MemoryShare(of: budget).takeAtOnce(201))
        }
        #expect(budget.total == 0)
    }

    @Test("the first bytes of each memory share are not counted in the budget")
    func free() {
        let budget = MemoryBudget(limit: 800, free: 100, clock: manual.clock)
        let share = MemoryShare(of: budget, for: one)
        #expect(share.takeAtOnce(90))
        #expect(budget.total == 0)
        #expect(share.takeAtOnce(30))
        #expect(share.count == 120)
        #expect(budget.total == 20)
        share.belong(to: other)
        share.hold(50)
        #expect(budget.total == 0)
        #expect(share.takeAtOnce(750))
        #expect(!share.takeAtOnce(1))
        share.hold(0)
        #expect(budget.total == 0)
    }
}
