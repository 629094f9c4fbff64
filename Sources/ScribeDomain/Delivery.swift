package import Foundation

/// One message that somebody is to get, at least once.
package struct Delivery: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case pending
        /// An attempt is being made.
        case sending
        case delivered
        /// The last attempt has failed. It is kept, and can be asked for again.
        case failed
    }

    /// What is to be told.
    package enum Content: Hashable, Sendable {
        /// With what is told beside the event, by its style's ``EventVocabulary``.
        case event(SessionEvent, of: TransactionID, JSONValue?, Webhook)
        case callback(Callback)
    }

    package let id: Int64
    /// Those of a lane have one receiver, who gets no more than a few at a time.
    package let lane: String
    package let business: BusinessID
    /// How often it was tried, this time included.
    package let attempt: Int
    /// When it became true.
    package let occurredAt: Date
    /// Since when it is to be delivered.
    package let queuedAt: Date
    /// Whether its receiver is still registered.
    package let isWanted: Bool
    package let content: Content

    /// What could not be delivered for so long is given up, in seconds: a receiver that takes its time with each message
    /// would have ever more of them waiting.
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

/// A message to an address that a single request has named.
package struct Callback: Hashable, Sendable {
    /// Ten attempts, as Deepgram makes them.
    package static let pauses = [Duration](repeating: .seconds(30), count: 9)

    package let address: String
    /// `POST` or `PUT`.
    package let method: String
    /// What the request was answered with.
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

/// What came of an attempt.
package enum DeliveryOutcome: Hashable, Sendable {
    /// - Parameter signature: the header's value that was sent along.
    case delivered(signature: String?)
    /// - Parameter problem: in words, none of them the receiver's.
    case failed(problem: String)
    /// Nobody tried, nor will.
    case abandoned(problem: String)
}

/// A delivery as operators see it.
package struct DeliveryRecord: Hashable, Sendable {
    package let id: Int64
    package let business: BusinessID
    /// nil for a callback.
    package let webhook: Webhook?
    /// Its name in the registration's style, or `callback`.
    package let event: String
    package let kind: SessionEvent?
    package let detail: JSONValue?
    /// The transaction's id, or that of the request which has named the address.
    package let session: String
    package let endpoint: String
    package let state: Delivery.State
    package let attempts: Int
    /// Why the last attempt failed.
    package let problem: String?
    package let signature: String?
    package let occurredAt: Date
    package let nextAttempt: Date?
    package let settledAt: Date?

    package init(
        id: Int64, business: BusinessID, webhook: Webhook?, event: String, kind: SessionEvent?, detail: JSONValue?,
        session: String,
        endpoint: String, state: Delivery.State, attempts: Int, problem: String?, signature: String?, occurredAt: Date,
        nextAttempt: Date?, settledAt: Date?
    ) {
        self.id = id
        self.business = business
        self.webhook = webhook
        self.event = event
        self.kind = kind
        self.detail = detail
        self.session = session
        self.endpoint = endpoint
        self.state = state
        self.attempts = attempts
        self.problem = problem
        self.signature = signature
        self.occurredAt = occurredAt
        self.nextAttempt = nextAttempt
        self.settledAt = settledAt
    }
}
