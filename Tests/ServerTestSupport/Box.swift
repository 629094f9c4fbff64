import Basics

/// A value that a test's closure hands out.
package final class Box<Value: Sendable>: Sendable {
    private let storage: LockedValue<Value>

    package init(_ value: Value) { storage = LockedValue(value) }

    package var value: Value { storage.withLock { $0 } }

    package func set(_ value: Value) { storage.withLock { $0 = value } }
}

extension Box where Value == (Int, String?) {
    package convenience init() { self.init((0, nil)) }
}
