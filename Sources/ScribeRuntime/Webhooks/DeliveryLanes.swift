import Basics
import ScribeDomain

/// Registry of lanes with deliveries, and of the lanes that a task works on.
package final class DeliveryLanes: Sendable {
    private struct State {
        var new: Set<String> = []
        var taken: [String: Wakeup] = [:]
    }

    private let state = LockedValue(State())
    private let wakeup = Wakeup(for: .delivery)

    init() {}

    /// Announces that a lane has a delivery, or that the time of its next delivery has changed.
    package func wake(_ lane: String) {
        let isNew = state.withLock { state in
            if let wakeup = state.taken[lane] {
                wakeup.wake()
                return false
            }
            return state.new.insert(lane).inserted
        }
        if isNew { wakeup.wake() }
    }

    /// Takes the announced lanes without a task. The new task of each lane waits for the lane's wake-ups.
    func take() -> [(lane: String, wakeup: Wakeup)] {
        state.withLock { state in
            defer { state.new = [] }
            return state.new.map { lane in
                let wakeup = Wakeup(for: .delivery)
                state.taken[lane] = wakeup
                return (lane, wakeup)
            }
        }
    }

    /// Ends the work on a lane.
    /// - Returns: false when the lane was announced again meanwhile.
    func leave(_ lane: String) -> Bool {
        state.withLock { state in
            guard let wakeup = state.taken[lane], !wakeup.take() else { return false }
            state.taken[lane] = nil
            return true
        }
    }

    /// Waits until a lane without a task is announced. Supports one waiting task.
    func wait() async throws { try await wakeup.wait() }
}
