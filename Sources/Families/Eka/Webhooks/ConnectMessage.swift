package import Foundation
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Eka Connect's message: the three that are documented disagree, and this one has the members of all (eka-v2.md
/// section 7).
package struct ConnectFormat: WebhookFormat {
    package let signatureHeader = "Eka-Webhook-Signature"
    package let timeLimit: Duration = .seconds(10)

    package init() {}

    package func body(
        of event: SessionEvent, in session: TransactionID, _ detail: EventDetail?, for webhook: Webhook, at time: Date
    ) throws -> Data {
        try encoded(ConnectMessage(session, webhook, at: time))
    }
}

private struct ConnectMessage: Encodable {
    struct State: Encodable {
        let transaction: String
        let session: String
        let status = "completed"

        enum CodingKeys: String, CodingKey {
            case status
            case transaction = "transaction_id"
            case session = "session_id"
        }
    }

    struct Payload: Encodable {
        struct Nothing: Encodable {}

        let service = ConnectMessage.service
        let event = ConnectMessage.event
        let eventTime: String
        let transaction: String
        let data = Nothing()

        enum CodingKeys: String, CodingKey {
            case service, event, data
            case eventTime = "event_time"
            case transaction = "transaction_id"
        }
    }

    static let service = "v2rx"
    static let event = "v2rx.completed"

    let service = ConnectMessage.service
    let serviceID = ConnectMessage.service
    let event = ConnectMessage.event
    let eventID = ConnectMessage.event
    let eventType = ConnectMessage.event
    let eventTime: String
    let timestamp: String
    let business: String
    let client: String
    let transaction: String
    let data: State
    let payload: Payload

    enum CodingKeys: String, CodingKey {
        case service, event, timestamp, data, payload
        case serviceID = "service_id"
        case eventID = "event_id"
        case eventType = "event_type"
        case eventTime = "event_time"
        case business = "business_id"
        case client = "client_id"
        case transaction = "transaction_id"
    }

    init(_ session: TransactionID, _ webhook: Webhook, at time: Date) {
        eventTime = time.apiTime
        timestamp = time.apiTime
        business = webhook.business.rawValue
        client = webhook.client.rawValue
        transaction = session.rawValue
        data = State(transaction: session.rawValue, session: session.rawValue)
        payload = Payload(eventTime: time.apiTime, transaction: session.rawValue)
    }
}
