import Basics
import Engines
import Foundation
import Logging
import ScribeDomain
import ScribeStore

/// Sends the deliveries of one lane, a few at a time, until none is left.
struct DeliveryLane: Sendable {
    let name: String
    let wakeup: Wakeup
    let runner: DeliveryRunner

    /// Maximum number of concurrent messages to one receiver that does not fail.
    private static let width = 8

    func run() async {
        var width = Self.width
        while !Task.isCancelled {
            do {
                switch try await runner.store.webhooks.claimDeliveries(in: name, upTo: width, at: runner.clock.now) {
                case .deliveries(let deliveries):
                    // A failing receiver gets one message at a time until it succeeds.
                    width = await perform(deliveries) ? Self.width : 1
                case .nothing(nil):
                    if runner.lanes.leave(name) {
                        try? await runner.store.work.leave(lane: name)
                        return
                    }
                case .nothing(let time?):
                    try await wakeup.wait(until: time, clock: runner.clock)
                }
            } catch is CancellationError {
                return
            } catch {
                runner.logger.error("deliveries cannot be claimed", metadata: ["error": "\(error)"])
                try? await runner.clock.wall.sleep(for: .seconds(1), as: .storeRetry)
            }
        }
    }

    /// Sends some deliveries concurrently.
    /// - Returns: whether all of them were delivered.
    private func perform(_ deliveries: [Delivery]) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for delivery in deliveries { group.addTask { await perform(delivery) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    private func perform(_ delivery: Delivery) async -> Bool {
        do {
            let business = delivery.business.rawValue
            let step = try await runner.faults.next(for: delivery, vocabulary: runner.sender.vocabulary(of: delivery))
            guard case .send(let fault) = step else { return true }
            let outcome = try await runner.businessSlots.run(for: business) {
                try await runner.slots.run(for: business) {
                    if fault == .twice { _ = try await runner.sender.send(delivery) }
                    return try await runner.sender.send(delivery, isSignedWrongly: fault == .wrongSignature)
                }
            }
            // The message was sent, so its outcome is stored even if the server stops now.
            let settling = Task { await settle(delivery, outcome) }
            guard let settlement = await settling.value else { return false }
            if settlement != .lost { report(delivery, outcome, settlement) }
            return settlement == .delivered
        } catch {
            // The server stops. The next start sends the delivery.
            try? await shieldFromCancellation { try await runner.store.webhooks.giveBack(delivery) }
            return false
        }
    }

    /// Stores the outcome of an attempt, and retries until the write succeeds: a delivery that stays claimed would
    /// never be sent again.
    /// - Returns: nil if the database was closed meanwhile. The next start sends the message again.
    private func settle(_ delivery: Delivery, _ outcome: DeliveryOutcome) async -> Settlement? {
        while true {
            do {
                return try await runner.store.webhooks.settle(delivery, outcome, at: runner.clock.now)
            } catch {
                guard !runner.store.isClosed else { return nil }
                runner.logger.error(
                    "what was delivered cannot be written down",
                    metadata: ["delivery": "\(delivery.id)", "error": "\(error)"])
                try? await runner.clock.wall.sleep(for: .seconds(1), as: .storeRetry)
            }
        }
    }

    private func report(_ delivery: Delivery, _ outcome: DeliveryOutcome, _ settlement: Settlement) {
        let style =
            switch delivery.content {
            case .event(_, _, _, let webhook): webhook.style.rawValue
            case .callback: "callback"
            }
        runner.metrics.deliverySettled(style: style, settlement: settlement.rawValue)
        let problem: String
        switch outcome {
        case .delivered: return
        case .failed(let reason), .abandoned(let reason): problem = reason
        }
        runner.logger.notice(
            settlement == .failed ? "a delivery has failed" : "a delivery will be tried again",
            metadata: [
                "delivery": "\(delivery.id)", "lane": "\(name)", "attempt": .stringConvertible(delivery.attempt),
                "problem": "\(problem)",
            ])
    }
}
