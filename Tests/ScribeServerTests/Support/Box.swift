import ScribeDomain

/// A value that a test's closure hands out.
final class Box<Value: Sendable>: Sendable {
    private let storage: LockedValue<Value>

    init(_ value: Value) { storage = LockedValue(value) }

    var value: Value { storage.withLock { $0 } }

    func set(_ value: Value) { storage.withLock { $0 = value } }
}

extension Box where Value == (Int, String?) {
    convenience init() { self.init((0, nil)) }
}
