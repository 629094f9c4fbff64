/// Cache of computed values by key, with a limit on their total size. A value beyond the limit empties the cache first.
/// This costs less than tracking the order of use, and keys still in use return at once.
@usableFromInline package final class RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline struct State: Sendable {
        @usableFromInline var values: [Key: (value: Value, size: Int)] = [:]
        @usableFromInline var size = 0

        @usableFromInline init() {}
    }

    @usableFromInline let limit: Int
    @usableFromInline let state = LockedValue(State())

    /// Creates an empty cache.
    /// - Parameter limit: largest total size of all values.
    package init(limit: Int) { self.limit = limit }

    /// Cached value of a key; nil if there is none.
    @inlinable package subscript(key: Key) -> Value? { state.withLock { $0.values[key]?.value } }

    /// Caches a value.
    /// - Parameter size: size of the value, in the unit of the limit.
    @inlinable package func remember(_ value: Value, of key: Key, size: Int = 1) {
        // A value beyond the whole limit would empty the cache every time.
        guard size <= limit else { return }
        state.withLock { state in
            if state.size + size > limit {
                // Its table would grow again.
                state.values.removeAll(keepingCapacity: true)
                state.size = 0
            }
            let old = state.values.updateValue((value, size), forKey: key)
            state.size += size - (old?.size ?? 0)
        }
    }
}
