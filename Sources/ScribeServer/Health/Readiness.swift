import NIOConcurrencyHelpers

/// Whether migrations and seed are done and the server is not stopping.
final class Readiness: Sendable {
    private let state = NIOLockedValueBox(false)

    var isReady: Bool { state.withLockedValue { $0 } }

    func set(_ isReady: Bool) { state.withLockedValue { $0 = isReady } }
}
