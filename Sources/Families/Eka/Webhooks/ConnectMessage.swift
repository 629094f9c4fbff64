package import Basics
package import Foundation
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime

extension Webhook.Style {
    /// Webhooks subscribed through Eka Connect (eka-v2.md section 7).
    package static let connect = Webhook.Style("connect")
}

/// Format of Eka Connect's webhook messages. Three documented formats disagree; this format has the members of all
/// three (eka-v2.md section 7).
package struct ConnectFormat: WebhookFormat {
    package let style = Webhook.Style.connect
    package let requiresUniqueEndpoint = true
    package let signatureHeader = "Eka-Webhook-Signature"
    package let timeLimit: Duration = .seconds(10)

    package init() {}

    package func name(of event: SessionEvent) -> String? {
        switch event {
        case .completed, .partial: "v2rx.completed"
        case .started, .ended, .failed, .expired, .cancelled: nil
        }
    }

    package func body(
        of event: SessionEvent, in session: TransactionID, _ detail: JSONValue?, for webhook: Webhook, at time: Date
    ) -> Data {
        let (service, name): (JSON, JSON) = ("v2rx", "v2rx.completed")
        let (transaction, moment): (JSON, JSON) = (.string(session.rawValue), .string(time.apiTime))
        return encoded([
            "service": service, "service_id": service, "event": name, "event_id": name, "event_type": name,
            "event_time": moment, "timestamp": moment, "business_id": .string(webhook.business.rawValue),
            "client_id": .string(webhook.client.rawValue), "transaction_id": transaction,
            "data": ["transaction_id": transaction, "session_id": transaction, "status": "completed"],
            "payload": [
                "service": service, "event": name, "event_time": moment, "transaction_id": transaction, "data": [:],
            ],
        ])
    }
}
