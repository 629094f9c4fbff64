package import Basics
package import Foundation
package import ScribeDomain

/// Webhook format of one API: event names, bodies, headers and signatures.
package protocol WebhookFormat: EventVocabulary {
    /// The name of the header with the signature.
    var signatureHeader: String { get }
    /// The longest time that a receiver may take to answer.
    var timeLimit: Duration { get }

    /// Makes the body of a webhook. The result must depend on the arguments only, because each attempt makes the
    /// body anew.
    /// - Parameter detail: the data that the style stores with the event; nil where it stores none.
    func body(
        of event: SessionEvent, in session: TransactionID, _ detail: JSONValue?, for webhook: Webhook, at time: Date
    ) -> Data

    /// Signs the exact bytes of a body. The signature is stored with the delivery.
    func signature(of body: Data, key: String, at now: Date) -> String

    /// Makes the headers that carry a stored signature.
    func headers(of signature: String) -> [(name: String, value: String)]
}

extension WebhookFormat {
    package func signature(of body: Data, key: String, at now: Date) -> String {
        WebhookSignature.timed(of: body, key: key, at: now)
    }

    package func headers(of signature: String) -> [(name: String, value: String)] { [(signatureHeader, signature)] }

    /// Encodes a message as compact, sorted, ASCII-only JSON. The vendor's receiver parses and re-encodes the message
    /// before it checks the signature (C-112), and Python escapes all other characters. The order of keys must
    /// never change: signatures are stored with deliveries, but bodies are made anew.
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
