package import Basics
package import Foundation

/// Outgoing message to a webhook or callback, delivered at least once.
package struct Delivery: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case pending
        /// An attempt is running.
        case sending
        case delivered
        /// The last attempt failed. The delivery is kept, and can be requested again.
        case failed
    }

    /// Content of a delivery: a session event for a webhook, or a callback's body.
    package enum Content: Hashable, Sendable {
        /// Event of a recording, with the detail that its style's ``EventVocabulary`` adds.
        case event(SessionEvent, of: TransactionID, JSONValue?, Webhook)
        case callback(Callback)
    }

    package let id: Int64
    /// Lane: the ordered deliveries to one receiver, of which only a few run at a time.
    package let lane: String
    package let business: BusinessID
    /// Number of this attempt, from 1.
    package let attempt: Int
    /// Time at which the event occurred.
    package let occurredAt: Date
    /// Time at which the delivery was queued.
    package let queuedAt: Date
    /// Whether the receiver is still registered.
    package let isWanted: Bool
    package let content: Content

    /// Longest time that an undelivered message waits, in seconds; after that the delivery is abandoned.
    /// Without this limit the queue of a slow receiver would grow without end.
    package static let longestWait: TimeInterval = 3 * 86_400

    package init(
        id: Int64, lane: String, business: BusinessID, attempt: Int, occurredAt: Date, queuedAt: Date,
        isWanted: Bool, content: Content
    ) {
        self.queuedAt = queuedAt
        self.isWanted = isWanted
        self.id = id
        self.lane = lane
        self.business = business
        self.attempt = attempt
        self.occurredAt = occurredAt
        self.content = content
    }

    package var pauses: [Duration] {
        switch content {
        case .event(_, _, _, let webhook): webhook.pauses
        case .callback: Callback.pauses
        }
    }
}

/// One-off message to an address that a single request named.
package struct Callback: Hashable, Sendable {
    /// Pauses between ten attempts, as Deepgram makes them.
    package static let pauses = [Duration](repeating: .seconds(30), count: 9)

    package let address: String
    /// HTTP method, `POST` or `PUT`.
    package let method: String
    /// Id that the server answered the request with.
    package let request: String
    package let headers: [String: String]
    package let body: Data

    package init(address: String, method: String, request: String, headers: [String: String], body: Data) {
        self.address = address
        self.method = method
        self.request = request
        self.headers = headers
        self.body = body
    }
}

/// Result of a delivery attempt.
package enum DeliveryOutcome: Hashable, Sendable {
    /// The receiver answered with success.
    /// - Parameter signature: value of the signature header that was sent.
    case delivered(signature: String?)
    /// The attempt failed.
    /// - Parameter problem: reason in our own words, without any text of the receiver.
    case failed(problem: String)
    /// The delivery was given up without an attempt.
    case abandoned(problem: String)
}
