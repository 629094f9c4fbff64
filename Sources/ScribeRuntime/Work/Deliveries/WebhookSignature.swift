import Crypto
package import Foundation
import ScribeDomain

/// What says that a message is ours, and when it was sent: over the exact bytes, with the key's own bytes.
package enum WebhookSignature {
    /// `t=<unix seconds>,v1=<hex>`: receivers split it at the comma and at each equals sign, and take a time that is a few
    /// minutes old at most (C-112).
    package static func timed(of body: Data, key: String, at now: Date) -> String {
        let time = Int(now.timeIntervalSince1970)
        return "t=\(time),v1=\(code("\(time).", body, key))"
    }

    /// `<unix milliseconds>:<hex>`, which are sent in a header each (suki.md section 7).
    package static func stamped(of body: Data, key: String, at now: Date) -> String {
        let time = Int64((now.timeIntervalSince1970 * 1000).rounded())
        return "\(time):\(code("\(time):", body, key))"
    }

    private static func code(_ stamp: String, _ body: Data, _ key: String) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: Data(key.utf8)))
        code.update(data: Data(stamp.utf8))
        code.update(data: body)
        return Hex.encode(code.finalize())
    }
}
