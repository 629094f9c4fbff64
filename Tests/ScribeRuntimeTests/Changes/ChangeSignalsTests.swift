import Basics
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime

struct ChangeSignalsTests {
    let key = Transaction.Key(business: .init("b"), id: .init("t"))
    let signals = ChangeSignals()
    let manual = ManualClock()
    /// How often was read.
    let reads = LockedValue(0)

    /// Waits until something was read often enough.
    private func hold(until last: Int, clientDisconnect: OneShotSignal = OneShotSignal()) async throws -> Int {
        try await signals.longPoll(key, atMost: .seconds(5), clock: manual.world, until: clientDisconnect) {
            let count = reads.withLock { reads in
                reads += 1
                return reads
            }
            return (count, count == last)
        }
    }

    private func isWaiting(after count: Int) async {
        while reads.withLock({ $0 }) < count { await Task.yield() }
    }

    @Test("a change between a poll's first read and its wait is not lost")
    func earlyChange() async throws {
        let answer = try await signals.longPoll(key, atMost: .seconds(5), clock: manual.world, until: OneShotSignal()) {
            let count = reads.withLock { reads in
                reads += 1
                return reads
            }
            if count == 1 { signals.post(key) }
            return (count, count == 2)
        }
        #expect(answer == 2)
    }

    @Test("changes of other transactions do not wake a poll, and its subscription ends with the poll")
    func others() async throws {
        async let answer = hold(until: 3)
        try await manual.waitFor(.heldPoll)
        #expect(signals.waiterCount == 1)
        signals.post(Transaction.Key(business: .init("b2"), id: .init("t")))
        manual.advance(by: .seconds(5))
        #expect(try await answer == 2, "once at the beginning, once at the end")
        #expect(signals.waiterCount == 0)
    }

    @Test("a poll reads once after each change, also if the clock is set back meanwhile")
    func clockSetBack() async throws {
        async let answer = hold(until: 10)
        try await manual.waitFor(.heldPoll)
        manual.setBack(by: .seconds(3600))
        for count in 2...4 {
            signals.post(key)
            await isWaiting(after: count)
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(reads.withLock { $0 } == 4)
        manual.advance(by: .seconds(3605))
        #expect(try await answer == 5)
    }

    @Test("a poll ends when its client disconnects")
    func clientDisconnect() async throws {
        let clientDisconnect = OneShotSignal()
        async let answer = hold(until: 10, clientDisconnect: clientDisconnect)
        try await manual.waitFor(.heldPoll)
        clientDisconnect.fire()
        #expect(try await answer == 2)
    }

    @Test(
        "a poll that the end of its world ends finds no transaction, and neither does one that begins later",
        arguments: [true, false])
    func endOfWorld(beginsBefore: Bool) async throws {
        if !beginsBefore { signals.end() }
        let poll = Task { try await hold(until: 10) }
        if beginsBefore {
            try await manual.waitFor(.heldPoll)
            signals.end()
        }
        await #expect(throws: ScribeError.transactionNotFound) { try await poll.value }
        #expect(reads.withLock { $0 } == 1, "what the ended world says does not count")
    }

    @Test("a poll whose first read is final answers with it, also after the end of its world")
    func finalAtEnd() async throws {
        signals.end()
        #expect(try await hold(until: 1) == 1)
    }

    @Test("a cancelled poll answers with its last read")
    func cancellation() async throws {
        let task = Task { try await hold(until: 10) }
        try await manual.waitFor(.heldPoll)
        task.cancel()
        #expect(try await task.value == 1)
    }
}
