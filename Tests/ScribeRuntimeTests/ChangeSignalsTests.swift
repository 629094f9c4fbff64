import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime

struct ChangeSignalsTests {
    let key = Transaction.Key(business: .init("b"), id: .init("t"))

    @Test("a change between subscribing and waiting is not lost")
    func earlyChange() async throws {
        let signals = ChangeSignals()
        let changes = signals.changes(of: key)
        signals.post(key)
        try await firstOf(changes, limit: nil, clock: ManualClock().clock, as: .heldPoll)
    }

    @Test("others' changes wake nobody, and a subscription ends with its reader")
    func others() async throws {
        let signals = ChangeSignals()
        let manual = ManualClock()
        do {
            let changes = signals.changes(of: key)
            #expect(signals.waiterCount == 1)
            async let wait: Void = firstOf(changes, limit: .seconds(5), clock: manual.clock, as: .heldPoll)
            try await manual.waitFor(.heldPoll)
            signals.post(Transaction.Key(business: .init("b2"), id: .init("t")))
            manual.advance(by: .seconds(5))
            try await wait
        }
        #expect(signals.waiterCount == 0)
    }

    @Test("a cancelled wait says so")
    func cancellation() async {
        let signals = ChangeSignals()
        let task = Task { [changes = signals.changes(of: key)] in
            try await firstOf(changes, limit: nil, clock: ManualClock().clock, as: .heldPoll)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
