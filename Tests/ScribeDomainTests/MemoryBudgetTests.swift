import ScribeDomain
import TestSupport
import Testing

struct MemoryBudgetTests {
    private let manual = ManualClock()
    private let one = BusinessID("one")
    private let other = BusinessID("other")

    private func budget() -> MemoryBudget { MemoryBudget(limit: 800, free: 0, clock: manual.clock) }

    @Test("a business alone has all but an eighth, and half once another holds any")
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

    @Test("who finds no room waits, and who came first goes first")
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

    @Test("after ten seconds it is told that there is no room")
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

    @Test("what never fits is not waited for")
    func never() async throws {
        let share = MemoryShare(of: budget(), for: one)
        await #expect(throws: MemoryBudget.Exhausted.self) { try await share.take(701) }
    }

    @Test("who waits and goes takes nothing")
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

    @Test("it is given back with its holder, and goes over to a business that says who it is")
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

    @Test("the first bytes of each share are free, and come back as they went")
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
