import Basics
import ScribeDomain

/// Registry of lanes with deliveries, and of the lanes that a task works on.
package final class DeliveryLanes: Sendable {
    private struct State {
        var new: Set<String> = []
        var taken: [String: JobInbox] = [:]
    }

    private let state = LockedValue(State())
    private let inbox = JobInbox(for: .delivery)

    init() {}

    /// Announces that a lane has a delivery, or that the time of its next delivery has changed.
    package func wake(_ lane: String) {
        let isNew = state.withLock { state in
            if let inbox = state.taken[lane] {
                inbox.wake()
                return false
            }
            return state.new.insert(lane).inserted
        }
        if isNew { inbox.wake() }
    }

    /// Takes the announced lanes without a task. The new task of each lane waits at the lane's inbox.
    func take() -> [(lane: String, inbox: JobInbox)] {
        state.withLock { state in
            defer { state.new = [] }
            return state.new.map { lane in
                let inbox = JobInbox(for: .delivery)
                state.taken[lane] = inbox
                return (lane, inbox)
            }
        }
    }

    /// Ends the work on a lane.
    /// - Returns: false when the lane was announced again meanwhile.
    func leave(_ lane: String) -> Bool {
        state.withLock { state in
            guard let inbox = state.taken[lane], !inbox.takeWake() else { return false }
            state.taken[lane] = nil
            return true
        }
    }

    /// Waits until a lane without a task is announced. Supports one waiting task.
    func wait(_ clock: WorldClock) async throws { _ = try await inbox.wait(until: nil, clock: clock) }
}
