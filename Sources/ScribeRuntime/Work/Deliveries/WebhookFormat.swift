package import Foundation
package import ScribeDomain

/// How one API tells of an event: what a family knows of webhooks.
package protocol WebhookFormat: EventVocabulary {
    /// The name of the header with the signature.
    var signatureHeader: String { get }
    /// How long a receiver may take to answer.
    var timeLimit: Duration { get }

    /// What is told: a pure function of what happened, for it is made anew with each attempt.
    /// - Parameter detail: what was kept beside the event, where its style has that.
    func body(
        of event: SessionEvent, in session: TransactionID, _ detail: JSONValue?, for webhook: Webhook, at time: Date
    ) -> Data

    /// Says that the very bytes are ours, as it is kept with the delivery.
    func signature(of body: Data, key: String, at now: Date) -> String

    /// As it is sent.
    func headers(of signature: String) -> [(name: String, value: String)]
}

extension WebhookFormat {
    package func signature(of body: Data, key: String, at now: Date) -> String {
        WebhookSignature.timed(of: body, key: key, at: now)
    }

    package func headers(of signature: String) -> [(name: String, value: String)] { [(signatureHeader, signature)] }

    /// A message as JSON: compact, its members in the order of their names, and all ASCII. The vendor's receiver reads it,
    /// writes it anew, and checks the signature over that (C-112); Python escapes what is not ASCII. The order must never
    /// change: signatures are kept with deliveries, and messages are made anew.
    package func encoded(_ message: JSON) -> Data {
        let json = message.sorted.bytes
        guard json.contains(where: { $0 >= 0x80 }) else { return Data(json) }
        var ascii = Data()
        for unit in String(decoding: json, as: UTF8.self).utf16 {
            if unit < 0x80 {
                ascii.append(UInt8(unit))
            } else {
                ascii.append(contentsOf: "\\u".utf8)
                ascii.append(contentsOf: Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)]).utf8)
            }
        }
        return ascii
    }
}

extension [any WebhookFormat] {
    var byStyle: [Webhook.Style: any WebhookFormat] {
        Dictionary(uniqueKeysWithValues: map { ($0.style, $0) })
    }
}
