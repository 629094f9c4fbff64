import ScribeDomain

/// The lanes in which there may be something to deliver, and who is at them.
package final class DeliveryLanes: Sendable {
    private struct State {
        var new: Set<String> = []
        var taken: [String: JobBell] = [:]
    }

    private let state = LockedValue(State())
    private let bell = JobBell(for: .delivery)

    init() {}

    /// There may be something to do in a lane, now or at another time than before.
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

    /// Takes the lanes at which nobody is. Whoever is at one listens to its bell.
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

    /// Nothing is left to do in a lane.
    /// - Returns: false when its bell has rung meanwhile.
    func leave(_ lane: String) -> Bool {
        state.withLock { state in
            guard let bell = state.taken[lane], !bell.takeRing() else { return false }
            state.taken[lane] = nil
            return true
        }
    }

    /// Returns when there may be lanes at which nobody is. For one listener.
    func wait(_ clock: WorldClock) async throws { _ = try await bell.wait(atMost: nil, clock: clock) }
}
