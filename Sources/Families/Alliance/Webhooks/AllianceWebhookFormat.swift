package import Basics
package import Foundation
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime

extension Webhook.Style {
    /// Webhooks of the session protocol (medscribe.md section 6).
    package static let alliance = Webhook.Style("alliance")
}

/// Format of the session protocol's webhook messages, which have exactly three members (medscribe.md section 6).
package struct AllianceWebhookFormat: WebhookFormat {
    package let style = Webhook.Style.alliance
    package let signatureHeader = "X-MSA-Signature"
    package let timeLimit: Duration = .seconds(30)

    package init() {}

    /// Event name in messages; nil if the protocol has no webhook for the event.
    package func name(of event: SessionEvent) -> String? {
        switch event {
        case .cancelled: nil
        case .started, .ended, .completed, .partial, .failed, .expired: "session.\(event.rawValue)"
        }
    }

    package func body(
        of event: SessionEvent, in session: TransactionID, _ detail: JSONValue?, for webhook: Webhook, at time: Date
    ) -> Data {
        encoded([
            "event": .string(name(of: event) ?? event.rawValue), "timestamp": .string(time.apiTime),
            "session_id": .string(session.rawValue),
        ])
    }
}
