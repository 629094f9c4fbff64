/// The limit of bytes held for clients: bodies, unfinished messages, audio that is in no chunk yet, pictures in pieces, and
/// answers that are not taken yet. One business has at most half of it, or all but an eighth while no other
/// holds any. Who asks for more than there is waits for it.
package final class MemoryBudget: Sendable {
    /// Nobody has given enough back in time.
    package struct Exhausted: Error, Hashable, Sendable {
        package init() {}
    }

    /// The longest wait for room.
    package static let patience: Duration = .seconds(10)

    private struct Waiting {
        let count: Int
        let business: BusinessID?
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// Bytes by business; nil is for clients that are not authenticated yet.
        var held: [BusinessID?: Int] = [:]
        var total = 0
        /// Waiting takes by number; the lowest number has waited longest.
        var waiting: [Int: Waiting] = [:]
        var next = 0
    }

    /// The bytes that may be held.
    package let limit: Int
    /// The bytes of each share that are not counted.
    fileprivate let free: Int
    private let clock: WallClock
    private let state = LockedValue(State())

    /// - Parameters:
    ///   - limit: in bytes.
    ///   - free: the bytes of each share that are not counted, so that small bodies cost nothing.
    package init(limit: Int, free: Int = 4096, clock: WallClock) {
        self.limit = limit
        self.free = free
        self.clock = clock
    }

    /// Bytes held by all businesses.
    package var total: Int { state.withLock(\.total) }

    /// Whether hardly anything is left that one business may have.
    package var isUsedUp: Bool { mostOfOne - total < limit / 16 }

    /// While no other business holds any.
    private var mostOfOne: Int { limit - limit / 8 }

    private func fits(_ count: Int, _ business: BusinessID?, _ state: State) -> Bool {
        let own = state.held[business, default: 0]
        let (most, mostOfAll) = own == state.total ? (mostOfOne, mostOfOne) : (limit / 2, limit)
        return count <= most - own && count <= mostOfAll - state.total
    }

    private static func add(_ count: Int, _ business: BusinessID?, to state: inout State) {
        state.total += count
        let held = state.held[business, default: 0] + count
        state.held[business] = held == 0 ? nil : held
    }

    fileprivate func takeAtOnce(_ count: Int, for business: BusinessID?) -> Bool {
        state.withLock { state in
            guard fits(count, business, state) else { return false }
            Self.add(count, business, to: &state)
            return true
        }
    }

    /// Takes what somebody begins to hold.
    /// - Throws: ``Exhausted`` when there is no room in time, `CancellationError`.
    fileprivate func take(_ count: Int, for business: BusinessID?) async throws {
        guard !takeAtOnce(count, for: business) else { return }
        guard count <= mostOfOne else { throw Exhausted() }
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let late = Task { [weak self, clock] in
            try await clock.sleep(for: Self.patience, as: .memory)
            self?.leave(number, throwing: Exhausted())
        }
        defer { late.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(number, Waiting(count: count, business: business, continuation: continuation))
            }
        } onCancel: {
            leave(number, throwing: CancellationError())
        }
    }

    private func enter(_ number: Int, _ waiting: Waiting) {
        let isOver: (any Error)?? = state.withLock { state in
            if Task.isCancelled { return .some(CancellationError()) }
            guard fits(waiting.count, waiting.business, state) else {
                state.waiting[number] = waiting
                return nil
            }
            Self.add(waiting.count, waiting.business, to: &state)
            return .some(nil)
        }
        switch isOver {
        case nil: break
        case .some(nil): waiting.continuation.resume()
        case .some(let error?): waiting.continuation.resume(throwing: error)
        }
    }

    private func leave(_ number: Int, throwing error: any Error) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume(throwing: error)
    }

    /// Adds or gives back bytes of a business, whether or not there is room, and serves who waits.
    fileprivate func change(by count: Int, for business: BusinessID?) {
        let served = state.withLock { state -> [Waiting] in
            Self.add(count, business, to: &state)
            guard count < 0, !state.waiting.isEmpty else { return [] }
            var served: [Waiting] = []
            for (number, waiting) in state.waiting.sorted(by: { $0.key < $1.key })
            where fits(waiting.count, waiting.business, state) {
                Self.add(waiting.count, waiting.business, to: &state)
                state.waiting[number] = nil
                served.append(waiting)
            }
            return served
        }
        for waiting in served { waiting.continuation.resume() }
    }
}

/// The part of the ``MemoryBudget`` that one request, socket or stream holds. It is given back with its holder.
package final class MemoryShare: Sendable {
    private let budget: MemoryBudget
    private struct State {
        /// Bytes held, the free ones included.
        var count = 0
        /// Bytes that the budget counts.
        var counted = 0
        var business: BusinessID?
    }

    private let state: LockedValue<State>

    /// - Parameter business: nil while it is not known.
    package init(of budget: MemoryBudget, for business: BusinessID? = nil) {
        self.budget = budget
        state = LockedValue(State(business: business))
    }

    deinit { hold(0) }

    /// In bytes.
    package var count: Int { state.withLock(\.count) }

    /// The part of so many bytes that counts in the budget.
    private func counted(_ count: Int) -> Int { max(0, count - budget.free) }

    /// Moves the share and all that it holds to a business.
    package func belong(to business: BusinessID) {
        let (count, before) = state.withLock { state in
            defer { state.business = business }
            return (state.counted, state.business)
        }
        guard before != business, count > 0 else { return }
        budget.change(by: count, for: business)
        budget.change(by: -count, for: before)
    }

    /// Holds so many bytes more. For one caller at a time.
    /// - Throws: ``MemoryBudget/Exhausted`` when there is no room in time, `CancellationError`.
    package func take(_ count: Int) async throws {
        let (more, business) = growth(by: count)
        if more > 0 { try await budget.take(more, for: business) }
        add(count, more)
    }

    /// Holds so many bytes more, if there is room for them now. For one caller at a time.
    package func takeAtOnce(_ count: Int) -> Bool {
        let (more, business) = growth(by: count)
        guard more == 0 || budget.takeAtOnce(more, for: business) else { return false }
        add(count, more)
        return true
    }

    private func growth(by count: Int) -> (more: Int, business: BusinessID?) {
        state.withLock { (max(0, counted($0.count + count) - $0.counted), $0.business) }
    }

    private func add(_ count: Int, _ more: Int) {
        state.withLock { state in
            state.count += count
            state.counted += more
        }
    }

    /// Holds so many bytes: what is there already needs no room.
    package func hold(_ count: Int) {
        let (change, business) = state.withLock { state in
            defer { (state.count, state.counted) = (count, counted(count)) }
            return (counted(count) - state.counted, state.business)
        }
        if change != 0 { budget.change(by: change, for: business) }
    }
}
