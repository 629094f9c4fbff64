/// A cache of values by the keys they were computed from. It empties itself when a new value would exceed the limit:
/// that is cheaper than an order of use, and keys still in use return at once.
@usableFromInline package final class RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline struct State: Sendable {
        @usableFromInline var values: [Key: (value: Value, size: Int)] = [:]
        @usableFromInline var size = 0

        @usableFromInline init() {}
    }

    @usableFromInline let limit: Int
    @usableFromInline let state = LockedValue(State())

    /// - Parameter limit: The largest sum of the sizes of all values.
    package init(limit: Int) { self.limit = limit }

    @inlinable package subscript(key: Key) -> Value? { state.withLock { $0.values[key]?.value } }

    /// - Parameter size: The size of the value, in the unit of the limit.
    @inlinable package func remember(_ value: Value, of key: Key, size: Int = 1) {
        // A value beyond the whole limit would empty the cache each time.
        guard size <= limit else { return }
        state.withLock { state in
            if state.size + size > limit { state = State() }
            let old = state.values.updateValue((value, size), forKey: key)
            state.size += size - (old?.size ?? 0)
        }
    }
}
