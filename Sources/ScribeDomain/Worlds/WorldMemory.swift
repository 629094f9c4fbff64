import Basics

/// Memory in bytes that all worlds share: for rows that are in memory, playbacks, fixtures and fault rules.
package final class WorldMemory: Sendable {
    private struct State {
        var total = 0
        var next = 0
        var sizes: [Int: Int] = [:]
    }

    private let limit: Int
    private let state = LockedValue(State())

    package init(limit: Int) { self.limit = limit }

    /// Memory of one use in one world. Deallocation gives it back.
    package final class Share: Sendable {
        private let memory: WorldMemory
        private let number: Int

        fileprivate init(_ memory: WorldMemory, _ number: Int) {
            self.memory = memory
            self.number = number
        }

        deinit { memory.end(number) }

        /// Sets the size, in bytes.
        /// - Throws: ``ScribeError/storageUnavailable(cause:)`` if the size has grown and all together are beyond the
        ///   limit. The size is then as before.
        package func resize(to size: Int) throws(ScribeError) { try memory.resize(number, to: size) }
    }

    /// Makes an empty share.
    package func share() -> Share {
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
        if !fits {
            throw .storageUnavailable(
                cause: "rows, playbacks, fixtures and fault rules fill the memory of the namespaces")
        }
    }

    private func end(_ number: Int) {
        state.withLock { state in state.total -= state.sizes.removeValue(forKey: number) ?? 0 }
    }

    /// Bytes of all uses together.
    package var total: Int { state.withLock(\.total) }
}
