import ScribeDomain

/// Registry of lanes with deliveries, and of the lanes that a task works on.
package final class DeliveryLanes: Sendable {
    private struct State {
        var new: Set<String> = []
        var taken: [String: JobBell] = [:]
    }

    private let state = LockedValue(State())
    private let bell = JobBell(for: .delivery)

    init() {}

    /// Announces that a lane has a delivery, or that the time of its next delivery has changed.
    package func ring(_ lane: String) {
        let isNew = state.withLock { state in
            if let bell = state.taken[lane] {
                bell.ring()
                return false
            }
            return state.new.insert(lane).inserted
        }
        if isNew { bell.ring() }
    }

    /// Takes the announced lanes without a task. The new task of each lane listens to the lane's bell.
    func take() -> [(lane: String, bell: JobBell)] {
        state.withLock { state in
            defer { state.new = [] }
            return state.new.map { lane in
                let bell = JobBell(for: .delivery)
                state.taken[lane] = bell
                return (lane, bell)
            }
        }
    }

    /// Ends the work on a lane.
    /// - Returns: false when the lane was announced again meanwhile.
    func leave(_ lane: String) -> Bool {
        state.withLock { state in
            guard let bell = state.taken[lane], !bell.takeRing() else { return false }
            state.taken[lane] = nil
            return true
        }
    }

    /// Waits until a lane without a task is announced. Supports one waiting task.
    func wait(_ clock: WorldClock) async throws { _ = try await bell.wait(atMost: nil, clock: clock) }
}
