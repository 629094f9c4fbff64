package import Basics
package import Foundation
package import ScribeDomain

/// A clock that stands still until a test moves it.
package final class ManualClock: Sendable {
    private struct Sleeper {
        let number: Int
        let name: WallClock.Sleeper
        let until: Date
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// A test that waits until all of these sleep.
    private struct Watcher {
        let number: Int
        let names: [WallClock.Sleeper]
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// The test's time was over while it waited.
    private struct NeverSlept: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var now: Date
        var next = 0
        var sleepers: [Sleeper] = []
        /// Cancelled before they could fall asleep.
        var cancelled: Set<Int> = []
        var watchers: [Watcher] = []
    }

    private let state: LockedValue<State>

    /// 2026-05-10T09:12:33Z unless told otherwise.
    package init(now: Date = Date(timeIntervalSince1970: 1_778_404_353)) {
        state = LockedValue(State(now: now))
    }

    package var now: Date { state.withLock { $0.now } }

    /// A world's clock that runs with this one.
    package var world: WorldClock { WorldClock(clock) }

    package var clock: WallClock {
        WallClock(now: { self.now }, sleep: { try await self.sleep(for: $0, as: $1) })
    }

    /// Moves the time, and wakes those whose time has come.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration / .seconds(1)
            let due = state.sleepers.filter { $0.until <= state.now }
            state.sleepers.removeAll { $0.until <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// As an administrator may, or a machine that learns the right time: nobody wakes.
    package func setBack(by duration: Duration) { state.withLock { $0.now -= duration / .seconds(1) } }

    /// Returns once all of these sleep: whoever is named twice, twice.
    /// - Throws: who was waited for, when the test is cancelled because its time is over.
    package func waitFor(_ names: WallClock.Sleeper...) async throws { try await waitFor(names) }

    /// Returns once so many of one name sleep.
    package func waitFor(_ count: Int, _ name: WallClock.Sleeper) async throws {
        try await waitFor(Array(repeating: name, count: count))
    }

    private func waitFor(_ names: [WallClock.Sleeper]) async throws {
        let number = nextNumber()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return .failure(Self.neverSlept(names, state)) }
                    if Self.areAsleep(names, state) { return .success(()) }
                    state.watchers.append(Watcher(number: number, names: names, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let ended = state.withLock { state -> (Watcher, any Error)? in
                guard let index = state.watchers.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return (state.watchers.remove(at: index), Self.neverSlept(names, state))
            }
            if let (watcher, error) = ended { watcher.continuation.resume(throwing: error) }
        }
    }

    /// How many of these sleep now.
    package func count(of name: WallClock.Sleeper) -> Int {
        state.withLock { state in state.sleepers.count { $0.name == name } }
    }

    /// When the first of those who sleep wakes; nil while nobody does.
    package var nextWaking: Date? { state.withLock { state in state.sleepers.map(\.until).min() } }

    private static func areAsleep(_ names: [WallClock.Sleeper], _ state: State) -> Bool {
        var asleep = state.sleepers.map(\.name)
        return names.allSatisfy { name in
            guard let index = asleep.firstIndex(of: name) else { return false }
            asleep.remove(at: index)
            return true
        }
    }

    private static func neverSlept(_ names: [WallClock.Sleeper], _ state: State) -> any Error {
        func list(_ names: [WallClock.Sleeper]) -> String {
            names.isEmpty ? "nobody" : names.map(\.rawValue).joined(separator: ", ")
        }
        return NeverSlept(
            description: "waited in vain for \(list(names)); asleep: \(list(state.sleepers.map(\.name)))")
    }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    private func sleep(for duration: Duration, as name: WallClock.Sleeper) async throws {
        let number = nextNumber()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isCancelled, watchers) = state.withLock {
                    state -> (Bool, [CheckedContinuation<Void, any Error>]) in
                    if state.cancelled.remove(number) != nil { return (true, []) }
                    let until = state.now + duration / .seconds(1)
                    state.sleepers.append(Sleeper(number: number, name: name, until: until, continuation: continuation))
                    let watchers = state.watchers.filter { Self.areAsleep($0.names, state) }
                    state.watchers.removeAll { watcher in watchers.contains { $0.number == watcher.number } }
                    return (false, watchers.map(\.continuation))
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
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

extension WorldClock {
    /// Moves the clock forward or back, and wakes every sleeper whose time has come.
    package func move(by seconds: TimeInterval) { set(to: now.addingTimeInterval(seconds)) }
}

extension IdentifierSource {
    /// Counts: the same in every run.
    package static func counting(after first: UInt64 = 0) -> IdentifierSource {
        let counter = LockedValue(first)
        @Sendable func next() -> UInt64 {
            counter.withLock { value in
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
