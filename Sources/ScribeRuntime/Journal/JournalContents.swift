import ScribeDomain
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
        private(set) var slots = SlotQueue()
        private(set) var first = 1
        /// Number of entries.
        private(set) var count = 0
        private(set) var bytes = 0
        private(set) var dropped = 0
        private(set) var changes = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting = 0

        /// Number of the next entry.
        private var next: Int { first + slots.count }

        subscript(number: Int) -> JournalRecord? {
            number >= first && number < next ? slots[number - first].entry : nil
        }

        /// Entries with their numbers, the oldest first.
        func numbered(where isWanted: (Slot) -> Bool = { _ in true }) -> [Journal.Numbered] {
            (0..<slots.count).compactMap { offset in
                let slot = slots[offset]
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
            let change = isNews ? changes + 1 : nil
            guard slots.change(number - first, growth: growth, change) else { return false }
            changes = change ?? changes
            bytes += growth
            return true
        }

        /// Removes an entry.
        /// - Returns: its memory.
        mutating func remove(_ number: Int) -> Int {
            guard self[number] != nil else { return 0 }
            let size = slots.remove(number - first)
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
            first += 1
            let (entry, size) = slots.popFirst()
            guard let entry else { return }
            bytes -= size
            count -= 1
            dropped += 1
            evicted.append(entry, size: size)
        }

        /// Removes all entries.
        /// - Returns: their memory, and the entries, to be released after the lock.
        mutating func removeAll() -> (bytes: Int, slots: SlotQueue) {
            defer {
                first = next
                (slots, count, bytes, dropped) = (SlotQueue(), 0, 0, 0)
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

    /// Ring of slots, which are changed in place.
    struct SlotQueue {
        /// A power of two of slots. Slots beyond ``count`` are empty.
        private var slots = [Slot()]
        private var start = 0
        private(set) var count = 0

        private func index(_ offset: Int) -> Int { (start + offset) & (slots.count - 1) }

        subscript(offset: Int) -> Slot { slots[index(offset)] }

        mutating func append(_ slot: Slot) {
            if count == slots.count {
                slots = (0..<count).map { slots[index($0)] } + Array(repeating: Slot(), count: count)
                start = 0
            }
            slots[index(count)] = slot
            count += 1
        }

        /// Notes a change of an entry.
        /// - Parameter change: its number; nil to keep the number of the change before.
        /// - Returns: false for an empty slot.
        mutating func change(_ offset: Int, growth: Int, _ change: Int?) -> Bool {
            let index = index(offset)
            guard slots[index].entry != nil else { return false }
            slots[index].size += growth
            if let change { slots[index].change = change }
            return true
        }

        /// Empties a slot.
        /// - Returns: its size.
        mutating func remove(_ offset: Int) -> Int {
            let index = index(offset)
            slots[index].entry = nil
            return slots[index].size
        }

        /// Removes the first slot, which must exist.
        mutating func popFirst() -> (entry: JournalRecord?, size: Int) {
            let (entry, size) = (slots[start].entry.take(), slots[start].size)
            start = index(1)
            count -= 1
            return (entry, size)
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
