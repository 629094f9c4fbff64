import NIOCore
import Synchronization

/// Entries of a journal, behind a lock.
///
/// The budget of all journals holds it, and not the journal: a weak reference would make each use of the journal
/// slower.
final class JournalContents: Sendable {
    struct Slot {
        /// nil for an entry that another journal has taken over.
        var entry: JournalRecord?
        var size = 0
        /// Number of the entry's last change.
        var change = 0
    }

    struct State {
        /// Entries from the one numbered ``first`` on.
        private(set) var slots = CircularBuffer<Slot>()
        private(set) var first = 1
        /// Number of entries.
        private(set) var count = 0
        private(set) var bytes = 0
        private(set) var dropped = 0
        /// Number and start of the newest of the dropped entries, which may be two.
        private(set) var lastDropped: Journal.Dropped?
        private(set) var changes = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting = 0

        /// Number of the next entry.
        private var next: Int { first + slots.count }

        subscript(number: Int) -> JournalRecord? {
            number >= first && number < next ? slots[offset: number - first].entry : nil
        }

        /// Entries with their numbers, the oldest first.
        func numbered(where isWanted: (Slot) -> Bool = { _ in true }) -> [Journal.Numbered] {
            (0..<slots.count).compactMap { offset in
                let slot = slots[offset: offset]
                guard let entry = slot.entry, isWanted(slot) else { return nil }
                return Journal.Numbered(number: first + offset, entry: entry, change: slot.change)
            }
        }

        /// Adds an entry.
        /// - Returns: its number.
        mutating func append(_ entry: JournalRecord, size: Int) -> Int {
            let number = next
            changes += 1
            slots.append(Slot(entry: entry, size: size, change: changes))
            count += 1
            bytes += size
            return number
        }

        /// Counts a change of an entry.
        /// - Returns: false if the entry is not in the journal.
        mutating func change(_ number: Int, growth: Int, isNews: Bool) -> Bool {
            guard number >= first, number < next else { return false }
            let offset = number - first
            guard slots[offset: offset].entry != nil else { return false }
            slots[offset: offset].size += growth
            if isNews {
                changes += 1
                slots[offset: offset].change = changes
            }
            bytes += growth
            return true
        }

        /// Removes an entry.
        /// - Returns: its memory.
        mutating func remove(_ number: Int) -> Int {
            guard self[number] != nil else { return 0 }
            slots[offset: number - first].entry = nil
            let size = slots[offset: number - first].size
            bytes -= size
            count -= 1
            return size
        }

        /// Removes the oldest entries beyond the limits.
        /// - Parameter number: the entry that stays, with all after it.
        mutating func evict(upTo settings: JournalSettings, keeping number: Int, into evicted: inout Evicted) {
            while count > settings.entries || bytes > settings.bytes, first < number { evictOldest(into: &evicted) }
        }

        /// Removes the oldest entries until the rest, at least one, takes at most so many bytes.
        mutating func evict(upTo limit: Int, into evicted: inout Evicted) {
            while bytes > limit, count > 1 { evictOldest(into: &evicted) }
        }

        private mutating func evictOldest(into evicted: inout Evicted) {
            defer { first += 1 }
            guard let slot = slots.popFirst(), let entry = slot.entry else { return }
            bytes -= slot.size
            count -= 1
            dropped += 1
            lastDropped = Journal.Dropped(
                number: first, startedAt: max(entry.startedAt, lastDropped?.startedAt ?? entry.startedAt))
            evicted.append(entry, size: slot.size)
        }

        /// Removes all entries.
        /// - Returns: their memory, and the entries, to be released after the lock.
        mutating func removeAll() -> (bytes: Int, slots: CircularBuffer<Slot>) {
            defer {
                first = next
                (slots, count, bytes, dropped, lastDropped) = (CircularBuffer(), 0, 0, 0, nil)
            }
            return (bytes, slots)
        }

        /// Readers that wait for a change.
        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            guard !waiting.isEmpty else { return [] }
            defer { waiting = [:] }
            return Array(waiting.values)
        }
    }

    /// Entries that have left the journal. They are released after the lock: it takes longer than all that is done
    /// with the lock held.
    struct Evicted {
        /// The last one. Most additions remove one entry, and need no array.
        private var entry: JournalRecord?
        private var others: [JournalRecord] = []
        private(set) var bytes = 0

        mutating func append(_ entry: JournalRecord, size: Int) {
            if let before = self.entry { others.append(before) }
            self.entry = entry
            bytes += size
        }

        func forget() {
            entry?.forget()
            for entry in others { entry.forget() }
        }
    }

    private let state = Mutex(State())

    /// Runs `body` with exclusive access to the entries. `body` must be short, and must lock nothing else.
    func withLock<Result: ~Copyable>(_ body: (inout State) -> sending Result) -> sending Result {
        state.withLock { body(&$0) }
    }

    var bytes: Int { state.withLock { $0.bytes } }

    /// Removes the oldest entries until the rest, at least one, takes at most so many bytes.
    /// - Returns: the memory of the removed entries.
    func shrink(to limit: Int) -> Int {
        var evicted = Evicted()
        state.withLock { $0.evict(upTo: limit, into: &evicted) }
        evicted.forget()
        return evicted.bytes
    }
}
