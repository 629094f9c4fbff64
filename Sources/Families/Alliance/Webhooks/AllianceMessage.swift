package import Foundation
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// The session protocol's message: three members and no more (medscribe.md section 6).
package struct AllianceFormat: WebhookFormat {
    private struct Message: Encodable {
        let event: String
        let timestamp: String
        let session: String

        enum CodingKeys: String, CodingKey {
            case event, timestamp
            case session = "session_id"
        }
    }

    package let signatureHeader = "X-MSA-Signature"
    package let timeLimit: Duration = .seconds(30)

    package init() {}

    package func body(
        of event: SessionEvent, in session: TransactionID, _ detail: EventDetail?, for webhook: Webhook, at time: Date
    ) throws -> Data {
        let name = webhook.style.name(of: event) ?? event.rawValue
        return try encoded(Message(event: name, timestamp: time.apiTime, session: session.rawValue))
    }
}
