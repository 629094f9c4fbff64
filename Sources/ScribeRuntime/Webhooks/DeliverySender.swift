import Basics
import Engines
import Foundation
import Journal
import NIOCore
import Outbound
import ScribeDomain

/// Makes one attempt at a delivery.
struct DeliverySender: Sendable {
    let outbound: OutboundClient
    let formats: [Webhook.Style: any WebhookFormat]
    let journal: Journal?
    let clock: WorldClock

    /// Time limit of a callback's receiver.
    private static let callbackTime: Duration = .seconds(30)

    /// The event names of a delivery's API; nil for a callback.
    func vocabulary(of delivery: Delivery) -> (any EventVocabulary)? {
        guard case .event(_, _, _, let webhook) = delivery.content else { return nil }
        return formats[webhook.style]
    }

    /// - Parameter isSignedWrongly: whether a fault rule wants a signature of another key.
    /// - Throws: `CancellationError` only.
    func send(_ delivery: Delivery, isSignedWrongly: Bool = false) async throws -> DeliveryOutcome {
        guard delivery.isWanted else { return .abandoned(problem: "the registration was removed") }
        guard clock.now.timeIntervalSince(delivery.queuedAt) < Delivery.longestWait else {
            return .abandoned(problem: "it could not be delivered for too long")
        }
        do {
            switch delivery.content {
            case .event(let event, let session, let detail, let webhook):
                return try await send(
                    webhook, of: event, in: session, detail, for: delivery, isSignedWrongly: isSignedWrongly)
            case .callback(let callback):
                let body = ByteBuffer(bytes: callback.body)
                let headers = callback.headers.sorted { $0.key < $1.key }.map { ($0, $1) }
                let record = AttemptRecord(
                    callback.address, method: callback.method, headers, body, of: delivery, in: journal)
                try await record.sending {
                    try await outbound.send(
                        body, headers, method: callback.method, to: try OutboundURL(callback.address),
                        within: Self.callbackTime, for: delivery.business)
                }
                return .delivered(signature: nil)
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch let problem as OutboundError {
            return .failed(problem: problem.words)
        } catch {
            return .failed(problem: "the message could not be made")
        }
    }

    private func send(
        _ webhook: Webhook, of event: SessionEvent, in session: TransactionID, _ detail: JSONValue?,
        for delivery: Delivery, isSignedWrongly: Bool
    ) async throws -> DeliveryOutcome {
        guard let format = formats[webhook.style] else { return .failed(problem: "the message could not be made") }
        let body = format.body(of: event, in: session, detail, for: webhook, at: delivery.occurredAt)
        let signature = webhook.signingKey.map {
            format.signature(of: body, key: isSignedWrongly ? "not \($0)" : $0, at: clock.wall.now)
        }
        var headers = [("Content-Type", "application/json"), ("User-Agent", "scribe-emulator")]
        headers += signature.map(format.headers) ?? []
        let content = ByteBuffer(bytes: body)
        guard case .address(let address) = webhook.endpoint else {
            AttemptRecord(nil, method: "POST", headers, content, of: delivery, event, in: journal).end(.whole)
            return .delivered(signature: signature)
        }
        let record = AttemptRecord(
            address, method: "POST", headers, content, of: delivery, event,
            isSignedWrongly: isSignedWrongly && signature != nil, in: journal)
        try await record.sending { [headers] in
            try await outbound.send(
                content, headers, method: "POST", to: try OutboundURL(address), within: format.timeLimit,
                for: webhook.business)
        }
        return .delivered(signature: signature)
    }
}
