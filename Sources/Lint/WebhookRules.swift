import Basics
import Foundation
import HTTPTypes
import Journal
import ScribeHTTP

/// Rules about the receivers of webhooks.
enum WebhookRules {
    static let slow = LintRule(
        "webhook-slow", .warning, row: "eka.md 7", "A receiver takes more than five seconds to answer",
        why: "After its time, ten or thirty seconds, the delivery counts as failed, and comes again.",
        fix: "Keep the message, answer 2xx, and work on it afterwards.")
    static let unverified = LintRule(
        "webhook-unverified", .error, row: "C-112", "A receiver accepts a message with a wrong signature",
        why: "Anybody who knows the address can tell the receiver anything.",
        fix: "Compare the signature over the raw bytes of the body, and answer 401 or 403 to another one.")

    static let rules = [slow, unverified]

    private static let longest = 5.0

    static func found(in exchanges: [LintedExchange]) -> [Found] {
        let deliveries = exchanges.filter { $0.kind == .delivery && $0.shown.request.authority != nil }
        let slow = deliveries.filter { $0.endedAt.timeIntervalSince($0.startedAt) > longest }
        let unverified = deliveries.filter { $0.isDone && $0.shown.exchange.delivery?.isSignedWrongly == true }
        return Found.ifAny(Self.slow, "\(slow.count.counted("message")) answered late", slow)
            + Found.ifAny(
                Self.unverified, "\(unverified.count.counted("message")) with a wrong signature accepted", unverified)
    }
}
