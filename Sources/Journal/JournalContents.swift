import Foundation
import NIOCore
import Synchronization

/// Entries of a journal, behind a lock.
///
/// The budget of all journals holds it, and not the journal: a weak reference would make each use of the journal
/// slower.
final class JournalContents: Sendable {
    /// Memory for exchanges one after another. It goes with the last of them.
    final class Block {
        /// Below the size from which the allocator asks the system for each block.
        static let size = 64 << 10

        var bytes: ByteBuffer

        init(size: Int) { bytes = ByteBufferAllocator().buffer(capacity: size) }
    }

    enum Place {
        /// Another journal has taken the entry over.
        case removed
        case record(JournalRecord)
        case packed(Block, at: Int, length: Int, RepeatedAnswer?)
    }

    struct Slot {
        fileprivate var place: Place
        var size = 0
        /// Number of the entry's last change.
        var change = 0

        var isRemoved: Bool { if case .removed = place { true } else { false } }

        /// nil for an entry that another journal has taken over.
        var entry: RecordedExchange? {
            switch place {
            case .removed: nil
            case .record(let record): RecordedExchange(content: .record(record))
            case .packed(let block, let start, let length, let repeated):
                block.bytes.getSlice(at: start, length: length).map {
                    RecordedExchange(content: .packed($0, repeated))
                }
            }
        }

        fileprivate var startedAt: Date? {
            switch place {
            case .removed: nil
            case .record(let record): record.startedAt
            case .packed(let block, let start, _, _): Exchange.start(packed: block.bytes, at: start)
            }
        }
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
        private var block = Block(size: 0)

        /// Number of the next entry.
        private var next: Int { first + slots.count }

        subscript(number: Int) -> RecordedExchange? { contains(number) ? slots[offset: number - first].entry : nil }

        func contains(_ number: Int) -> Bool {
            number >= first && number < next && !slots[offset: number - first].isRemoved
        }

        /// Writes an exchange into the newest block.
        /// - Returns: its memory. What the block before has left counts for the exchange that did not fit into it.
        private mutating func place(of packed: PackedExchange) -> (place: Place, size: Int) {
            let length = packed.bytes.count
            var size = PackedExchange.overhead + length
            if block.bytes.writableBytes < length {
                size += block.bytes.writableBytes
                block = Block(size: max(Block.size, length))
            }
            let start = block.bytes.writerIndex
            block.bytes.writeBytes(packed.bytes)
            return (.packed(block, at: start, length: length, packed.repeated), size)
        }

        /// Entries with their numbers, the oldest first.
        func numbered(where isWanted: (Slot) -> Bool = { _ in true }) -> [Journal.Numbered] {
            (0..<slots.count).compactMap { offset in
                let slot = slots[offset: offset]
                guard isWanted(slot), let entry = slot.entry else { return nil }
                return Journal.Numbered(number: first + offset, entry: entry, change: slot.change)
            }
        }

        /// Adds an entry.
        /// - Parameters:
        ///   - packed: the exchange, if it has ended and can be packed. It takes the place of its record.
        ///   - size: memory of the record.
        /// - Returns: number and memory of the entry.
        mutating func append(_ record: JournalRecord, _ packed: PackedExchange?, size: Int) -> (number: Int, size: Int)
        {
            let number = next
            changes += 1
            let (place, size) = packed.map { self.place(of: $0) } ?? (.record(record), size)
            slots.append(Slot(place: place, size: size, change: changes))
            count += 1
            bytes += size
            return (number, size)
        }

        /// Counts a change of an entry.
        /// - Parameter packed: the exchange, if it has ended. Its memory is what it takes now, whatever `growth` is.
        /// - Returns: how much more memory the entry takes; nil if it is not in the journal.
        mutating func change(_ number: Int, growth: Int, isNews: Bool, _ packed: PackedExchange?) -> Int? {
            guard contains(number) else { return nil }
            var slot = slots[offset: number - first]
            var growth = growth
            if let packed {
                let (place, size) = place(of: packed)
                slot.place = place
                growth = size - slot.size
            }
            slot.size += growth
            if isNews {
                changes += 1
                slot.change = changes
            }
            slots[offset: number - first] = slot
            bytes += growth
            return growth
        }

        /// Removes an entry.
        /// - Returns: its memory.
        mutating func remove(_ number: Int) -> Int {
            guard contains(number) else { return 0 }
            slots[offset: number - first].place = .removed
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
            guard let slot = slots.popFirst(), let startedAt = slot.startedAt else { return }
            bytes -= slot.size
            count -= 1
            dropped += 1
            lastDropped = Journal.Dropped(
                number: first, startedAt: max(startedAt, lastDropped?.startedAt ?? startedAt))
            evicted.bytes += slot.size
            if case .record(let record) = slot.place { evicted.append(record) }
        }

        /// Removes all entries.
        mutating func removeAll() -> Evicted {
            var evicted = Evicted()
            evicted.bytes = bytes
            for slot in slots {
                if case .record(let record) = slot.place { evicted.append(record) }
            }
            first = next
            (slots, count, bytes, dropped, lastDropped) = (CircularBuffer(), 0, 0, 0, nil)
            block = Block(size: 0)
            return evicted
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
        fileprivate(set) var bytes = 0

        mutating func append(_ entry: JournalRecord) {
            if let before = self.entry { others.append(before) }
            self.entry = entry
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
