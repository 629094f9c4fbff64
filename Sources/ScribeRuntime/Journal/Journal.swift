import NIOCore
package import ScribeDomain
import Synchronization

/// Exchanges of a world, the oldest first. It lives in memory only.
package final class Journal: Sendable {
    private struct Slot {
        let entry: JournalRecord
        var size: Int
        /// Number of the entry's last change.
        var change: Int
    }

    private struct State {
        /// Entries from the one numbered ``first`` on; nil for one that another journal has taken over.
        var slots: CircularBuffer<Slot?> = []
        var first = 1
        /// Number of entries.
        var count = 0
        var bytes = 0
        var dropped = 0
        var changes = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting = 0

        /// Number of the next entry.
        var next: Int { first + slots.count }

        /// Changes the entry of a number.
        /// - Returns: false if it is not in the journal.
        mutating func change(_ number: Int, _ change: (inout Slot) -> Void) -> Bool {
            guard number >= first, number < next, var slot = slots[offset: number - first] else { return false }
            change(&slot)
            slots[offset: number - first] = slot
            return true
        }

        subscript(number: Int) -> Slot? { number >= first && number < next ? slots[offset: number - first] : nil }

        /// Entries with their numbers, the oldest first.
        func numbered(where isWanted: (Slot) -> Bool = { _ in true }) -> [Numbered] {
            slots.enumerated().compactMap { offset, slot in
                guard let slot, isWanted(slot) else { return nil }
                return Numbered(number: first + offset, entry: slot.entry, change: slot.change)
            }
        }
    }

    /// Entry with its number, which counts the entries of the journal from 1 on.
    package struct Numbered: Sendable {
        package let number: Int
        package let entry: JournalRecord
        /// Number of the entry's last change.
        package let change: Int
    }

    /// Counts of a journal.
    package struct Counts: Hashable, Sendable {
        package let entries: Int
        package let bytes: Int
        /// Number of entries that were removed because the journal was full.
        package let dropped: Int
    }

    package let settings: JournalSettings
    package let clock: WallClock
    private let budget: JournalBudget
    private let state = LockedValue(State())

    package init(_ settings: JournalSettings, in budget: JournalBudget, clock: WallClock) {
        self.settings = settings
        self.budget = budget
        self.clock = clock
        budget.enter(self)
    }

    deinit { budget.leave(self, with: state.withLock { $0.bytes }) }

    // MARK: Writing

    /// Adds an entry.
    /// - Parameter size: memory of the entry.
    /// - Returns: the number of the entry.
    func add(_ entry: JournalRecord, size: Int) -> Int {
        let (number, evicted, waiting) = state.withLock { state in
            let number = state.next
            state.changes += 1
            state.slots.append(Slot(entry: entry, size: size, change: state.changes))
            state.count += 1
            let evicted = Self.evict(upTo: settings, keeping: number, &state)
            state.bytes += size
            return (number, evicted, Self.takeWaiting(&state))
        }
        budget.grow(by: size - evicted.bytes)
        for continuation in waiting { continuation.resume() }
        return number
    }

    /// Counts a change of an entry, removes the oldest entries beyond the limits, and wakes waiting readers.
    /// - Parameters:
    ///   - growth: how much more memory the entry takes.
    ///   - isNews: whether the change gets a number and wakes readers in ``wait(after:)``.
    /// - Returns: false if the entry has left the journal.
    func changed(_ number: Int, growth: Int, isNews: Bool) -> Bool {
        let result = state.withLock { state -> (Evicted, [CheckedContinuation<Void, Never>])? in
            let change = state.changes + (isNews ? 1 : 0)
            let isThere = state.change(number) { slot in
                slot.size += growth
                if isNews { slot.change = change }
            }
            guard isThere else { return nil }
            state.changes = change
            state.bytes += growth
            let waiting = isNews ? Self.takeWaiting(&state) : []
            return (Self.evict(upTo: settings, keeping: number, &state), waiting)
        }
        guard let (evicted, waiting) = result else { return false }
        if growth != evicted.bytes { budget.grow(by: growth - evicted.bytes) }
        for continuation in waiting { continuation.resume() }
        return true
    }

    /// Removes an entry, which another journal takes over.
    func remove(_ number: Int) {
        let size = state.withLock { state in
            guard let slot = state[number] else { return 0 }
            state.slots[offset: number - state.first] = nil
            state.bytes -= slot.size
            state.count -= 1
            return slot.size
        }
        budget.grow(by: -size)
    }

    /// Removes all entries.
    package func removeAll() {
        let (size, _) = state.withLock { state in
            let emptied = (state.bytes, state.slots)
            state.first = state.next
            (state.slots, state.count, state.bytes, state.dropped) = ([], 0, 0, 0)
            return emptied
        }
        budget.grow(by: -size)
    }

    /// Removes the oldest entries until the rest takes at most so many bytes.
    func shrink(to bytes: Int) {
        let evicted = state.withLock { state in
            Self.evict(&state) { $0.bytes > bytes && $0.count > 1 }
        }
        budget.grow(by: -evicted.bytes)
    }

    var bytes: Int { state.withLock { $0.bytes } }

    /// Entries that have left the journal. They are released after the lock: it takes longer than all that is done
    /// with the lock held.
    private struct Evicted {
        /// The last one. Most additions remove one entry, and need no array.
        private var entry: JournalRecord?
        private var others: [JournalRecord] = []
        var bytes = 0

        mutating func append(_ slot: Slot) {
            if let entry { others.append(entry) }
            entry = slot.entry
            bytes += slot.size
        }
    }

    private static func evict(upTo settings: JournalSettings, keeping number: Int, _ state: inout State) -> Evicted {
        evict(&state) {
            ($0.count > settings.entries || $0.bytes > settings.bytes) && $0.first < number
        }
    }

    private static func evict(_ state: inout State, while isOver: (State) -> Bool) -> Evicted {
        var evicted = Evicted()
        while isOver(state), let oldest = state.slots.popFirst() {
            state.first += 1
            guard let oldest else { continue }
            state.bytes -= oldest.size
            state.count -= 1
            state.dropped += 1
            evicted.append(oldest)
        }
        return evicted
    }

    // MARK: Reading

    /// All entries, the oldest first.
    package var entries: [Numbered] { state.withLock { $0.numbered() } }

    package subscript(number: Int) -> JournalRecord? { state.withLock { $0[number]?.entry } }

    package var counts: Counts {
        state.withLock { Counts(entries: $0.count, bytes: $0.bytes, dropped: $0.dropped) }
    }

    /// Number of the last change.
    package var changes: Int { state.withLock { $0.changes } }

    /// Entries that were added or changed after the change numbered `change`, in the order of their last changes.
    /// - Returns: the entries, and the number of the last change of all.
    package func news(after change: Int) -> (entries: [Numbered], change: Int) {
        let (changed, last) = state.withLock { state -> ([Numbered], Int) in
            guard state.changes > change else { return ([], state.changes) }
            return (state.numbered { $0.change > change }, state.changes)
        }
        return (changed.sorted { $0.change < $1.change }, last)
    }

    /// Waits for the next change after the change numbered `change`. Returns at once if there was one, and at the
    /// cancellation of the task.
    package func wait(after change: Int) async {
        let number = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.changes == change, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    private static func takeWaiting(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        guard !state.waiting.isEmpty else { return [] }
        defer { state.waiting = [:] }
        return Array(state.waiting.values)
    }
}
