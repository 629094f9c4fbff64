package import Foundation
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// The session protocol's message: three members and no more (medscribe.md section 6).
package struct AllianceFormat: WebhookFormat {
    package let signatureHeader = "X-MSA-Signature"
    package let timeLimit: Duration = .seconds(30)

    package init() {}

    package func body(
        of event: SessionEvent, in session: TransactionID, _ detail: EventDetail?, for webhook: Webhook, at time: Date
    ) -> Data {
        encoded([
            "event": .string(webhook.style.name(of: event) ?? event.rawValue), "timestamp": .string(time.apiTime),
            "session_id": .string(session.rawValue),
        ])
    }
}
