import ScribeDomain

/// Exchange in a journal. It may still go on.
package final class JournalEntry: Sendable {
    private let content: LockedValue<Exchange>

    init(_ exchange: Exchange) { content = LockedValue(exchange) }

    /// The exchange as it is now.
    package var exchange: Exchange { content.withLock { $0 } }

    func update<Value: Sendable>(_ change: (inout Exchange) -> Value) -> Value { content.withLock(change) }
}
