import Foundation
import ScribeDomain
import ScribeHTTP

/// A delivery as operators read it, with the message that its receiver gets. What a callback says is not shown: it is what
/// a patient has said.
struct DeliveryBody: Encodable {
    private struct Message: Encodable {
        let headers: [String: String]
        let body: String
    }

    private let id: String
    private let webhook: String?
    private let business: String
    private let event: String
    private let session: String
    private let endpoint: String
    private let state: String
    private let attempts: Int
    private let problem: String?
    private let occurredAt: String
    private let nextAttempt: String?
    private let settledAt: String?
    private let message: Message?

    private enum CodingKeys: String, CodingKey {
        case event, endpoint, state, attempts, problem, message
        case id = "delivery_id"
        case webhook = "webhook_id"
        case business = "business_id"
        case session = "session_id"
        case occurredAt = "occurred_at"
        case nextAttempt = "next_attempt"
        case settledAt = "settled_at"
    }

    init(_ record: DeliveryRecord, _ message: (headers: [(name: String, value: String)], body: Data)?) {
        id = String(record.id)
        webhook = record.webhook.map { String($0.id) }
        business = record.business.rawValue
        event = record.event
        session = record.session
        endpoint = record.endpoint
        state = record.state.rawValue
        attempts = record.attempts
        problem = record.problem
        occurredAt = record.occurredAt.apiTime
        nextAttempt = record.nextAttempt?.apiTime
        settledAt = record.settledAt?.apiTime
        self.message = message.map { message in
            var headers = ["Content-Type": "application/json"]
            for (name, value) in message.headers { headers[name] = value }
            return Message(headers: headers, body: String(decoding: message.body, as: UTF8.self))
        }
    }
}
