import Foundation
import Logging
import ScribeDomain
import ScribeStore

/// Faults of the deliveries of a world.
struct WebhookFaults: Sendable {
    let rules: FaultRules
    let store: Store
    let clock: WorldClock
    let logger: Logger
    /// Deliveries that wait for the next one of their session, with the time until which they wait.
    private let waiting = LockedValue<[Int64: Date]>([:])

    /// Longest wait for the next delivery of a session, in seconds, and the time between two looks.
    private static let longestWait = 30.0
    private static let pause = 0.2

    init(rules: FaultRules, store: Store, clock: WorldClock, logger: Logger) {
        self.rules = rules
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// The fault of a delivery, once its delay has passed; nil for none. A delivery out of order was put back, and must
    /// not be sent now.
    /// - Throws: `CancellationError`, the store's error.
    func next(for delivery: Delivery, vocabulary: (any EventVocabulary)?) async throws -> WebhookFault? {
        if let end = waiting.withLock({ $0[delivery.id] }) {
            guard clock.now < end, try await !pass(delivery) else {
                waiting.withLock { $0[delivery.id] = nil }
                return clock.now < end ? .outOfOrder : nil
            }
            return .outOfOrder
        }
        guard !rules.needs.isEmpty, case .event(let event, let session, _, _) = delivery.content else { return nil }
        var facts = FaultFacts(at: .webhook)
        facts.operation = FaultPlace.webhook.rawValue
        facts.business = delivery.business.rawValue
        facts.transactions = [session.rawValue]
        facts.event = vocabulary?.name(of: event)
        guard let applied = rules.applied(to: facts, at: clock.wall.now), case .webhook(let fault) = applied.rule.effect
        else { return nil }
        logger.notice(
            "a fault is applied", metadata: ["fault": "\(applied.rule.id)", "delivery": "\(delivery.id)"])
        if applied.delay > .zero {
            if applied.rule.isByWorldClock {
                try await clock.sleep(for: applied.delay, as: .fault)
            } else {
                try await clock.wall.sleep(for: applied.delay, as: .fault)
            }
        }
        if fault == .outOfOrder, try await !pass(delivery) {
            waiting.withLock { $0[delivery.id] = clock.now.addingTimeInterval(Self.longestWait) }
        }
        return fault
    }

    /// Puts a delivery back behind the next one of its session.
    /// - Returns: whether there is a next one.
    private func pass(_ delivery: Delivery) async throws -> Bool {
        try await store.letNextPass(
            delivery, retry: clock.now.addingTimeInterval(Self.pause), at: clock.now)
    }
}
