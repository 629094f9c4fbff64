package import Basics
package import Foundation

/// Exchanges of a world, the oldest first. It lives in memory only.
package final class Journal: Sendable {
    /// Entry with its number, which counts the entries of the journal from 1 on.
    package struct Numbered: Sendable {
        package let number: Int
        package let entry: RecordedExchange
        /// Number of the entry's last change.
        package let change: Int
    }

    /// Counts of a journal.
    package struct Counts: Hashable, Sendable {
        package let entries: Int
        package let bytes: Int
        /// Number of entries that were removed because the journal was full.
        package let dropped: Int
        /// nil for none.
        package let lastDropped: Dropped?
    }

    /// Entries that were removed because the journal was full. They enter in another order than they start.
    package struct Dropped: Hashable, Sendable {
        /// Highest number of one.
        package let number: Int
        /// Latest start of one.
        package let startedAt: Date
    }

    package let settings: JournalSettings
    package let clock: WallClock
    private let budget: JournalBudget
    private let contents = JournalContents()

    package init(_ settings: JournalSettings, in budget: JournalBudget, clock: WallClock) {
        self.settings = settings
        self.budget = budget
        self.clock = clock
        budget.enter(contents)
    }

    deinit { budget.leave(contents) }

    // MARK: Writing

    /// Adds an entry.
    /// - Parameters:
    ///   - packed: the exchange, if it has ended and can be packed. It takes the place of its record.
    ///   - size: memory of the record.
    /// - Returns: the number of the entry.
    func add(_ record: JournalRecord, _ packed: PackedExchange? = nil, size: Int) -> Int {
        var (number, size) = (0, size)
        var evicted = JournalContents.Evicted()
        let waiting = contents.withLock { state in
            (number, size) = state.append(record, packed, size: size)
            state.evict(upTo: settings, keeping: number, into: &evicted)
            return state.takeWaiting()
        }
        evicted.forget()
        budget.grow(by: size - evicted.bytes)
        if !waiting.isEmpty { resume(waiting) }
        return number
    }

    /// Counts a change of an entry, removes the oldest entries beyond the limits, and wakes waiting readers.
    /// - Parameters:
    ///   - growth: how much more memory the entry takes.
    ///   - isNews: whether the change gets a number and wakes readers in ``wait(after:)``.
    ///   - packed: the exchange, if it has ended and can be packed. It takes the place of its record.
    /// - Returns: false if the entry has left the journal.
    func changed(_ number: Int, growth: Int, isNews: Bool, _ packed: PackedExchange? = nil) -> Bool {
        var grown: Int?
        var evicted = JournalContents.Evicted()
        let waiting = contents.withLock { state in
            grown = state.change(number, growth: growth, isNews: isNews, packed)
            guard grown != nil else { return [CheckedContinuation<Void, Never>]() }
            state.evict(upTo: settings, keeping: number, into: &evicted)
            return isNews ? state.takeWaiting() : []
        }
        guard let grown else { return false }
        evicted.forget()
        budget.grow(by: grown - evicted.bytes)
        if !waiting.isEmpty { resume(waiting) }
        return true
    }

    private func resume(_ waiting: [CheckedContinuation<Void, Never>]) {
        for continuation in waiting { continuation.resume() }
    }

    /// Removes an entry, which another journal takes over.
    func remove(_ number: Int) { budget.grow(by: -contents.withLock { $0.remove(number) }) }

    /// Removes all entries.
    package func removeAll() {
        let evicted = contents.withLock { $0.removeAll() }
        evicted.forget()
        budget.grow(by: -evicted.bytes)
    }

    // MARK: Reading

    /// All entries, the oldest first.
    package var entries: [Numbered] { contents.withLock { $0.numbered() } }

    package subscript(number: Int) -> RecordedExchange? { contents.withLock { $0[number] } }

    /// Whether an entry is in the journal. Faster than to make its exchange.
    package func contains(_ number: Int) -> Bool { contents.withLock { $0.contains(number) } }

    package var counts: Counts {
        contents.withLock {
            Counts(entries: $0.count, bytes: $0.bytes, dropped: $0.dropped, lastDropped: $0.lastDropped)
        }
    }

    /// Number of the last change.
    package var changes: Int { contents.withLock { $0.changes } }

    /// Entries that were added or changed after the change numbered `change`, in the order of their last changes.
    /// - Returns: the entries, and the number of the last change of all.
    package func news(after change: Int) -> (entries: [Numbered], change: Int) {
        let (changed, last) = contents.withLock { state -> ([Numbered], Int) in
            guard state.changes > change else { return ([], state.changes) }
            return (state.numbered { $0.change > change }, state.changes)
        }
        return (changed.sorted { $0.change < $1.change }, last)
    }

    /// Waits for the next change after the change numbered `change`. Returns at once if there was one, and at the
    /// cancellation of the task.
    package func wait(after change: Int) async {
        let number = contents.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = contents.withLock { state in
                    guard state.changes == change, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            contents.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }
}
