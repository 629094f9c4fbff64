public import Synchronization

/// A value that is read and changed by one at a time. The only lock there is.
@usableFromInline package final class LockedValue<Value: Sendable>: Sendable {
    @usableFromInline let mutex: Mutex<Value>

    package init(_ value: Value) { mutex = Mutex(value) }

    /// Does `body` with the value, for as short a time as can be: it may neither wait nor lock anything else.
    @inlinable package func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { (value) throws(Failure) in try body(&value) }
    }
}
