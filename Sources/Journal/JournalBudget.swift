import Basics
import Synchronization

/// Memory of all journals of a server together. The largest journal gives way first.
package final class JournalBudget: Sendable {
    private let limit: Int
    private let used = Atomic<Int>(0)
    private let members = LockedValue<[ObjectIdentifier: JournalContents]>([:])

    /// - Parameter limit: most bytes of all journals.
    package init(limit: Int) { self.limit = limit }

    /// Bytes that all journals take.
    package var bytes: Int { used.load(ordering: .relaxed) }

    func enter(_ journal: JournalContents) { members.withLock { $0[ObjectIdentifier(journal)] = journal } }

    func leave(_ journal: JournalContents) {
        members.withLock { $0[ObjectIdentifier(journal)] = nil }
        grow(by: -journal.withLock { $0.removeAll() }.bytes)
    }

    func grow(by bytes: Int) {
        guard bytes != 0 else { return }
        let total = used.add(bytes, ordering: .relaxed).newValue
        guard bytes > 0, total > limit else { return }
        shrink()
    }

    /// Takes a quarter from the largest journal, until there is room.
    private func shrink() {
        while bytes > limit {
            let journals = members.withLock { Array($0.values) }
            guard let (largest, size) = journals.map({ ($0, $0.bytes) }).max(by: { $0.1 < $1.1 }) else { return }
            let freed = largest.shrink(to: size / 4 * 3)
            guard freed > 0 else { return }
            used.subtract(freed, ordering: .relaxed)
        }
    }
}
