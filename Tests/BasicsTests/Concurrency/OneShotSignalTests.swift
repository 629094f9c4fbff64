import Basics
import Testing

@Suite struct OneShotSignalTests {
    @Test("a signal calls its watchers once, also one that comes after it has fired")
    func watchers() async {
        let signal = OneShotSignal()
        let calls = LockedValue<[String]>([])
        await signal.watched(by: { calls.withLock { $0.append("early") } }) {
            #expect(calls.withLock { $0 } == [])
            signal.fire()
            signal.fire()
        }
        await signal.watched(by: { calls.withLock { $0.append("late") } }) {
            #expect(calls.withLock { $0 } == ["early", "late"])
        }
        #expect(signal.hasFired)
    }

    @Test("a watcher is not called after its body has ended")
    func endedWatcher() async {
        let signal = OneShotSignal()
        let wasCalled = LockedValue(false)
        await signal.watched(by: { wasCalled.withLock { $0 = true } }) {}
        signal.fire()
        #expect(wasCalled.withLock { $0 } == false)
    }
}
