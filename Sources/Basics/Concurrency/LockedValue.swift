public import Synchronization

/// Value behind a mutex, the only kind of lock in this program.
@usableFromInline package final class LockedValue<Value: Sendable>: Sendable {
    @usableFromInline let mutex: Mutex<Value>

    @inlinable package init(_ value: consuming Value) { mutex = Mutex(value) }

    /// Runs `body` with exclusive access to the value. `body` must be short, and must
    /// neither wait nor lock anything else.
    @inlinable package func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { (value) throws(Failure) in try body(&value) }
    }
}
