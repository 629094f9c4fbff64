import ScribeDomain

/// Memory that the rows of all databases in memory share, in bytes.
final class RowMemory: Sendable {
    private struct State {
        var total = 0
        var next = 0
        var sizes: [Int: Int] = [:]
    }

    private let limit: Int
    private let state = LockedValue(State())

    init(limit: Int) { self.limit = limit }

    /// Memory of one database's rows. Deallocation gives it back.
    final class Share: Sendable {
        private let memory: RowMemory
        private let number: Int

        fileprivate init(_ memory: RowMemory, _ number: Int) {
            self.memory = memory
            self.number = number
        }

        deinit { memory.end(number) }

        /// Sets the size of the database, in bytes.
        /// - Throws: ``ScribeError/storageUnavailable(cause:)`` if the database has grown and all together are beyond
        ///   the limit. The size is then as before.
        func resize(to size: Int) throws(ScribeError) { try memory.resize(number, to: size) }
    }

    /// Makes an empty share.
    func share() -> Share {
        Share(
            self,
            state.withLock { state in
                state.next += 1
                return state.next
            })
    }

    private func resize(_ number: Int, to size: Int) throws(ScribeError) {
        let fits = state.withLock { state in
            let before = state.sizes[number] ?? 0
            let total = state.total - before + size
            guard size <= before || total <= limit else { return false }
            state.sizes[number] = size
            state.total = total
            return true
        }
        if !fits { throw .storageUnavailable(cause: "the rows of all namespaces fill their memory") }
    }

    private func end(_ number: Int) {
        state.withLock { state in state.total -= state.sizes.removeValue(forKey: number) ?? 0 }
    }

    /// Bytes of all databases together.
    var total: Int { state.withLock(\.total) }
}
