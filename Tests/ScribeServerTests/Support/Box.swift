import NIOConcurrencyHelpers

/// A value that a test's closure hands out.
final class Box<Value: Sendable>: Sendable {
    private let storage: NIOLockedValueBox<Value>

    init(_ value: Value) { storage = NIOLockedValueBox(value) }

    var value: Value { storage.withLockedValue { $0 } }

    func set(_ value: Value) { storage.withLockedValue { $0 = value } }
}

extension Box where Value == (Int, String?) {
    convenience init() { self.init((0, nil)) }
}
