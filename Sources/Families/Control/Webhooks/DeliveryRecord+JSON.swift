import Basics
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeStore

extension DeliveryRecord {
    /// Encodes a delivery for operators, with the message that its receiver gets.
    ///
    /// A callback's body is left out: it is a transcript.
    func json(_ message: (headers: [(name: String, value: String)], body: Data)?) -> JSON {
        let shown = message.map { message -> JSON in
            var headers = ["Content-Type": JSONValue.string("application/json")]
            for (name, value) in message.headers { headers[name] = .string(value) }
            return [
                "headers": .value(.object(headers)), "body": .string(String(decoding: message.body, as: UTF8.self)),
            ]
        }
        return [
            "delivery_id": .string(String(id)), "webhook_id": webhook.map { .string(String($0.id)) },
            "business_id": .string(business.rawValue), "event": .string(event), "session_id": .string(session),
            "endpoint": .string(endpoint), "state": .string(state.rawValue), "attempts": .integer(attempts),
            "problem": problem.map(JSON.string), "occurred_at": .string(occurredAt.apiTime),
            "next_attempt": nextAttempt.map { .string($0.apiTime) },
            "settled_at": settledAt.map { .string($0.apiTime) }, "message": shown,
        ]
    }
}
