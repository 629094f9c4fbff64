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
        var slots: [Int: Slot] = [:]
        /// Numbers of the oldest entry, and of the next one.
        var first = 1
        var next = 1
        var bytes = 0
        var dropped = 0
        var changes = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting = 0
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
            state.next += 1
            state.changes += 1
            state.slots[number] = Slot(entry: entry, size: size, change: state.changes)
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
            guard let index = state.slots.index(forKey: number) else { return nil }
            state.slots.values[index].size += growth
            state.bytes += growth
            var waiting: [CheckedContinuation<Void, Never>] = []
            if isNews {
                state.changes += 1
                state.slots.values[index].change = state.changes
                waiting = Self.takeWaiting(&state)
            }
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
            guard let slot = state.slots.removeValue(forKey: number) else { return 0 }
            state.bytes -= slot.size
            return slot.size
        }
        budget.grow(by: -size)
    }

    /// Removes all entries.
    package func removeAll() {
        let (size, _) = state.withLock { state in
            let emptied = (state.bytes, state.slots)
            state.slots = [:]
            (state.first, state.bytes, state.dropped) = (state.next, 0, 0)
            return emptied
        }
        budget.grow(by: -size)
    }

    /// Removes the oldest entries until the rest takes at most so many bytes.
    func shrink(to bytes: Int) {
        let evicted = state.withLock { state in
            Self.evict(&state) { $0.bytes > bytes && $0.slots.count > 1 }
        }
        budget.grow(by: -evicted.bytes)
    }

    var bytes: Int { state.withLock { $0.bytes } }

    /// Entries that have left the journal. They are released after the lock: it takes longer than all that is done
    /// with the lock held.
    private struct Evicted {
        var entries: [JournalRecord] = []
        var bytes = 0
    }

    private static func evict(upTo settings: JournalSettings, keeping number: Int, _ state: inout State) -> Evicted {
        evict(&state) {
            ($0.slots.count > settings.entries || $0.bytes > settings.bytes) && $0.first < number
        }
    }

    private static func evict(_ state: inout State, while isOver: (State) -> Bool) -> Evicted {
        var evicted = Evicted()
        while state.first < state.next, isOver(state) {
            if let slot = state.slots.removeValue(forKey: state.first) {
                state.bytes -= slot.size
                state.dropped += 1
                evicted.bytes += slot.size
                evicted.entries.append(slot.entry)
            }
            state.first += 1
        }
        return evicted
    }

    // MARK: Reading

    /// All entries, the oldest first.
    package var entries: [Numbered] {
        let all = state.withLock { state in
            state.slots.map { Numbered(number: $0.key, entry: $0.value.entry, change: $0.value.change) }
        }
        return all.sorted { $0.number < $1.number }
    }

    package subscript(number: Int) -> JournalRecord? { state.withLock { $0.slots[number]?.entry } }

    package var counts: Counts {
        state.withLock { Counts(entries: $0.slots.count, bytes: $0.bytes, dropped: $0.dropped) }
    }

    /// Number of the last change.
    package var changes: Int { state.withLock { $0.changes } }

    /// Entries that were added or changed after the change numbered `change`, in the order of their last changes.
    /// - Returns: the entries, and the number of the last change of all.
    package func news(after change: Int) -> (entries: [Numbered], change: Int) {
        let (changed, last) = state.withLock { state -> ([Numbered], Int) in
            guard state.changes > change else { return ([], state.changes) }
            let changed = state.slots.compactMap { number, slot in
                slot.change > change ? Numbered(number: number, entry: slot.entry, change: slot.change) : nil
            }
            return (changed, state.changes)
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
