package import Basics
package import Foundation
package import ScribeDomain

/// Delivery as the operator API shows it.
package struct DeliveryRecord: Hashable, Sendable {
    package let id: Int64
    package let business: BusinessID
    /// Registration of the receiver; nil for a callback.
    package let webhook: Webhook?
    /// Event name in the registration's style, or `callback`.
    package let event: String
    package let kind: SessionEvent?
    package let detail: JSONValue?
    /// Id of the transaction, or of the request that named the callback address.
    package let session: String
    package let endpoint: String
    package let state: Delivery.State
    package let attempts: Int
    /// Reason for the last failed attempt; nil without one.
    package let problem: String?
    package let signature: String?
    package let occurredAt: Date
    package let nextAttempt: Date?
    package let settledAt: Date?
}
