package import Foundation
import NIOConcurrencyHelpers
package import ScribeDomain

/// A clock that stands still until a test moves it.
package final class ManualClock: Sendable {
    private struct Sleeper {
        let number: Int
        let until: Date
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Date
        var next = 0
        var sleepers: [Sleeper] = []
        /// Cancelled before they could fall asleep.
        var cancelled: Set<Int> = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: NIOLockedValueBox<State>

    /// 2026-05-10T09:12:33Z unless told otherwise.
    package init(now: Date = Date(timeIntervalSince1970: 1_778_404_353)) {
        state = NIOLockedValueBox(State(now: now))
    }

    package var now: Date { state.withLockedValue { $0.now } }

    package var clock: ScribeClock {
        ScribeClock(now: { self.now }, sleep: { try await self.sleep(for: $0) })
    }

    /// Moves the time, and wakes those whose time has come.
    package func advance(by duration: Duration) {
        let due = state.withLockedValue { state in
            state.now += duration / .seconds(1)
            let due = state.sleepers.filter { $0.until <= state.now }
            state.sleepers.removeAll { $0.until <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns once at least `count` sleep.
    package func waitForSleepers(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLockedValue { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func sleep(for duration: Duration) async throws {
        let number = state.withLockedValue { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isCancelled, watchers) = state.withLockedValue {
                    state -> (Bool, [CheckedContinuation<Void, Never>]) in
                    if state.cancelled.remove(number) != nil { return (true, []) }
                    let until = state.now + duration / .seconds(1)
                    state.sleepers.append(Sleeper(number: number, until: until, continuation: continuation))
                    let watchers = state.watchers.filter { $0.count <= state.sleepers.count }
                    state.watchers.removeAll { $0.count <= state.sleepers.count }
                    return (false, watchers.map(\.continuation))
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLockedValue { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}

extension IdentifierSource {
    /// Counts: the same in every run.
    package static func counting() -> IdentifierSource {
        let counter = NIOLockedValueBox(UInt64(0))
        @Sendable func next() -> UInt64 {
            counter.withLockedValue { value in
                value += 1
                return value
            }
        }
        return IdentifierSource(
            uuid: {
                let number = next()
                // The low byte also in front, so that names differ in their first letters as random ones do.
                let text = String(
                    format: "%02x000000-0000-4000-8000-%012llx", UInt8(truncatingIfNeeded: number), number)
                guard let uuid = UUID(uuidString: text) else { preconditionFailure("\(text) is no UUID") }
                return uuid
            },
            bytes: { count in
                let number = next()
                return (0..<count).map { UInt8(truncatingIfNeeded: number &* 31 &+ UInt64($0) &* 17) }
            }
        )
    }
}
