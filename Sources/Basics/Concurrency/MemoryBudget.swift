import Synchronization

/// Limits the bytes held in memory for clients, and makes takers wait for room.
///
/// The budget counts bodies, unfinished messages, audio outside any chunk, partial pictures and unsent answers. One
/// tenant may hold half of the limit, or seven eighths while no other tenant holds any.
///
/// Takers wait in the order in which they came, so that small ones do not starve a large one. Shares that hold bytes
/// already pass by: others wait for their end.
package final class MemoryBudget: Sendable {
    /// Thrown if no room becomes free within ``patience``.
    package struct Exhausted: Error, Hashable, Sendable {
        package init() {}
    }

    /// Longest wait for room.
    package static let patience: Duration = .seconds(10)

    private struct Waiting {
        let count: Int
        let tenant: String?
        let holdsSome: Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// Bytes held by each tenant; nil stands for unauthenticated clients.
        var held: [String?: Int] = [:]
        var total = 0
        /// Waiting takers by number; the lowest number has waited longest.
        var waiting: [Int: Waiting] = [:]
        var next = 0
    }

    /// Most bytes that may be held.
    package let limit: Int
    /// Bytes of each share that the budget does not count.
    fileprivate let free: Int
    private let clock: WallClock
    private let state = LockedValue(State())

    /// Creates a budget.
    /// - Parameters:
    ///   - limit: in bytes.
    ///   - free: uncounted bytes of each share, so that small bodies cost nothing.
    package init(limit: Int, free: Int = 4096, clock: WallClock) {
        self.limit = limit
        self.free = free
        self.clock = clock
    }

    /// Bytes held by all tenants.
    package var total: Int { state.withLock(\.total) }

    /// Whether less than a sixteenth of the limit is left for a single tenant.
    package var isUsedUp: Bool { maxOfOne - total < limit / 16 }

    /// Most bytes of one tenant while no other tenant holds any.
    private var maxOfOne: Int { limit - limit / 8 }

    private func fits(_ count: Int, _ tenant: String?, _ state: State) -> Bool {
        let own = state.held[tenant, default: 0]
        let (most, maxOfAll) = own == state.total ? (maxOfOne, maxOfOne) : (limit / 2, limit)
        return count <= most - own && count <= maxOfAll - state.total
    }

    /// Whether a taker may go before all that wait.
    private func mayPass(_ count: Int, _ tenant: String?, holdsSome: Bool, _ state: State) -> Bool {
        guard fits(count, tenant, state) else { return false }
        return holdsSome || !state.waiting.values.contains { blocks($0, tenant, state) }
    }

    /// Whether a tenant's new takers wait behind one that waits: not if only the limit of another tenant holds
    /// that one up.
    private func blocks(_ waiting: Waiting, _ tenant: String?, _ state: State) -> Bool {
        waiting.tenant == tenant || waiting.count <= limit / 2 - state.held[waiting.tenant, default: 0]
    }

    private static func add(_ count: Int, _ tenant: String?, to state: inout State) {
        state.total += count
        let held = state.held[tenant, default: 0] + count
        state.held[tenant] = held == 0 ? nil : held
    }

    fileprivate func takeAtOnce(_ count: Int, for tenant: String?, holdsSome: Bool) -> Bool {
        state.withLock { state in
            guard mayPass(count, tenant, holdsSome: holdsSome, state) else { return false }
            Self.add(count, tenant, to: &state)
            return true
        }
    }

    /// Reserves bytes for a tenant, and waits until they fit.
    /// - Throws: ``Exhausted`` without room in time, `CancellationError`.
    fileprivate func take(_ count: Int, for tenant: String?, holdsSome: Bool) async throws {
        guard !takeAtOnce(count, for: tenant, holdsSome: holdsSome) else { return }
        guard count <= maxOfOne else { throw Exhausted() }
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        var late: Task<Void, any Error>?
        defer { late?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(
                    number,
                    Waiting(count: count, tenant: tenant, holdsSome: holdsSome, continuation: continuation))
                // Begun last: a time that is over before the taker waits would end nothing.
                late = Task { [weak self, clock] in
                    try await clock.sleep(for: Self.patience, as: .memory)
                    self?.leave(number, throwing: Exhausted())
                }
            }
        } onCancel: {
            leave(number, throwing: CancellationError())
        }
    }

    /// Answer to a taker that asks for room.
    private enum Admission {
        case waiting, admitted, cancelled
    }

    private func enter(_ number: Int, _ waiting: Waiting) {
        let admission: Admission = state.withLock { state in
            if Task.isCancelled { return .cancelled }
            guard mayPass(waiting.count, waiting.tenant, holdsSome: waiting.holdsSome, state) else {
                state.waiting[number] = waiting
                return .waiting
            }
            Self.add(waiting.count, waiting.tenant, to: &state)
            return .admitted
        }
        switch admission {
        case .waiting: break
        case .admitted: waiting.continuation.resume()
        case .cancelled: waiting.continuation.resume(throwing: CancellationError())
        }
    }

    private func leave(_ number: Int, throwing error: any Error) {
        let left = state.withLock { $0.waiting.removeValue(forKey: number) }
        left?.continuation.resume(throwing: error)
        // Others may have waited behind it.
        if left != nil { change(by: 0, for: left?.tenant) }
    }

    /// Adds or returns bytes of a tenant without a check for room, then serves waiting takers.
    fileprivate func change(by count: Int, for tenant: String?) {
        let served = state.withLock { state -> [Waiting] in
            Self.add(count, tenant, to: &state)
            guard count <= 0, !state.waiting.isEmpty else { return [] }
            var (served, passed): ([Waiting], [Waiting]) = ([], [])
            for (number, waiting) in state.waiting.sorted(by: { $0.key < $1.key }) {
                let isBlocked = !waiting.holdsSome && passed.contains { blocks($0, waiting.tenant, state) }
                if !isBlocked, fits(waiting.count, waiting.tenant, state) {
                    Self.add(waiting.count, waiting.tenant, to: &state)
                    state.waiting[number] = nil
                    served.append(waiting)
                } else {
                    passed.append(waiting)
                }
            }
            return served
        }
        for waiting in served { waiting.continuation.resume() }
    }
}

/// Part of the ``MemoryBudget`` that one request, socket or stream holds. Deallocation returns all its bytes.
package final class MemoryShare: Sendable {
    private let budget: MemoryBudget
    private struct State {
        /// Bytes held, including the free ones.
        var count = 0
        /// Bytes that the budget counts for this share.
        var counted = 0
        var tenant: String?
    }

    // Not a `LockedValue`: each request has a share, and another object costs as much as the share.
    private let state: Mutex<State>

    /// Creates an empty share.
    /// - Parameter tenant: nil while the client is not authenticated.
    package init(of budget: MemoryBudget, for tenant: String? = nil) {
        self.budget = budget
        state = Mutex(State(tenant: tenant))
    }

    deinit { hold(0) }

    /// Bytes held by the share.
    package var count: Int { state.withLock(\.count) }

    /// Counted part of `count` held bytes.
    private func counted(_ count: Int) -> Int { max(0, count - budget.free) }

    /// Moves the share and all its bytes to another tenant.
    package func belong(to tenant: String) {
        let (count, before) = state.withLock { state in
            defer { state.tenant = tenant }
            return (state.counted, state.tenant)
        }
        guard before != tenant, count > 0 else { return }
        budget.change(by: count, for: tenant)
        budget.change(by: -count, for: before)
    }

    /// Adds bytes to the share, and waits until they fit. Only one caller at a time.
    /// - Throws: ``MemoryBudget/Exhausted`` without room in time, `CancellationError`.
    package func take(_ count: Int) async throws {
        let (more, tenant, holdsSome) = growth(by: count)
        if more > 0 { try await budget.take(more, for: tenant, holdsSome: holdsSome) }
        add(count, more)
    }

    /// Adds bytes to the share if they fit now; false otherwise. Only one caller at a time.
    package func takeAtOnce(_ count: Int) -> Bool {
        let (more, tenant, holdsSome) = growth(by: count)
        guard more == 0 || budget.takeAtOnce(more, for: tenant, holdsSome: holdsSome) else { return false }
        add(count, more)
        return true
    }

    private func growth(by count: Int) -> (more: Int, tenant: String?, holdsSome: Bool) {
        state.withLock { (max(0, counted($0.count + count) - $0.counted), $0.tenant, $0.counted > 0) }
    }

    private func add(_ count: Int, _ more: Int) {
        state.withLock { state in
            state.count += count
            state.counted += more
        }
    }

    /// Sets the share to `count` bytes without a check for room, for bytes that exist already.
    package func hold(_ count: Int) {
        let (change, tenant) = state.withLock { state in
            defer { (state.count, state.counted) = (count, counted(count)) }
            return (counted(count) - state.counted, state.tenant)
        }
        if change != 0 { budget.change(by: change, for: tenant) }
    }
}
