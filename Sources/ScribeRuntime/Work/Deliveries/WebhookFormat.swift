package import Foundation
package import ScribeDomain

/// How one API tells of an event: what a family knows of webhooks.
package protocol WebhookFormat: Sendable {
    /// The name of the header with the signature.
    var signatureHeader: String { get }
    /// How long a receiver may take to answer.
    var timeLimit: Duration { get }

    /// What is told: a pure function of what happened, for it is made anew with each attempt.
    func body(of event: SessionEvent, in session: TransactionID, for webhook: Webhook, at time: Date) throws -> Data
}
