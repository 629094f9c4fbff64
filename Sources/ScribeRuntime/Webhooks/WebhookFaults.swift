import Basics
import Foundation
import Logging
import ScribeDomain
import ScribeStore

/// Applies fault rules to webhook deliveries: sleeps for a delay, or reschedules the delivery in the database.
struct WebhookFaults: Sendable {
    let rules: FaultRules
    let store: Store
    let clock: WorldClock
    let logger: Logger
    /// Deliveries that wait for a later delivery of the same transaction, with the end of the wait.
    private let waiting = LockedValue<[Int64: Date]>([:])
    /// Faults of deliveries that were put back until their delay by the world's clock has passed.
    private let delayed = LockedValue<[Int64: WebhookFault]>([:])

    /// Longest wait for a later delivery of the transaction, in seconds.
    private static let longestWait = 30.0
    /// Interval between checks for the later delivery, in seconds.
    private static let pause = 0.2

    /// Next step of a delivery.
    enum Step: Hashable, Sendable {
        case send(WebhookFault?)
        /// The delivery was put back, and is due later.
        case putBack
    }

    /// Decides whether to send a delivery or to put it back. Sleeps first if a rule has a delay by the machine's clock.
    /// - Throws: `CancellationError`, the store's error.
    func next(for delivery: Delivery, vocabulary: (any EventVocabulary)?) async throws -> Step {
        if let fault = delayed.withLock({ $0.removeValue(forKey: delivery.id) }) {
            return try await step(fault, delivery)
        }
        if let end = waiting.withLock({ $0[delivery.id] }) {
            guard clock.now < end, try await !pass(delivery) else {
                waiting.withLock { $0[delivery.id] = nil }
                return clock.now < end ? .putBack : .send(nil)
            }
            return .putBack
        }
        guard !rules.needs.isEmpty else { return .send(nil) }
        var facts = FaultFacts(at: .webhook)
        facts.operation = FaultPlace.webhook.rawValue
        facts.business = delivery.business.rawValue
        switch delivery.content {
        case .event(let event, let session, _, _):
            facts.transactions = [session.rawValue]
            facts.event = vocabulary?.name(of: event)
        case .callback(let callback):
            facts.transactions = [callback.request]
            facts.event = FaultFacts.callback
        }
        guard let applied = rules.applied(to: facts, at: clock.wall.now), case .webhook(let fault) = applied.rule.effect
        else { return .send(nil) }
        logger.notice(
            "a fault is applied", metadata: ["fault": "\(applied.rule.id)", "delivery": "\(delivery.id)"])
        if applied.delay > .zero {
            if applied.rule.isByWorldClock {
                // As a row with a due time, so that an advanced clock does not wait for the delivery.
                delayed.withLock { $0[delivery.id] = fault }
                try await store.webhooks.putBack(
                    delivery, until: clock.now.addingTimeInterval(applied.delay / .seconds(1)))
                return .putBack
            }
            try await clock.wall.sleep(for: applied.delay, as: .fault)
        }
        return try await step(fault, delivery)
    }

    private func step(_ fault: WebhookFault, _ delivery: Delivery) async throws -> Step {
        guard fault == .outOfOrder else { return .send(fault) }
        if try await !pass(delivery) {
            waiting.withLock { $0[delivery.id] = clock.now.addingTimeInterval(Self.longestWait) }
        }
        return .putBack
    }

    /// Puts a delivery back behind the next one of its session.
    /// - Returns: whether there is a next one.
    private func pass(_ delivery: Delivery) async throws -> Bool {
        try await store.webhooks.letNextPass(
            delivery, retry: clock.now.addingTimeInterval(Self.pause), at: clock.now)
    }
}
