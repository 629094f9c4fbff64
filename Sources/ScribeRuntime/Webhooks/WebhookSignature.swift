import Basics
import Crypto
package import Foundation

/// HMAC-SHA256 signature of a webhook: proves the sender and the time of a body. The key is used as the UTF-8 bytes of
/// its text, not decoded.
package enum WebhookSignature {
    /// Signature `t=<unix seconds>,v1=<hex>`. Receivers split it at the comma and at each equals sign, and accept a
    /// time that is at most a few minutes old (C-112).
    package static func timed(of body: Data, key: String, at now: Date) -> String {
        let time = Int(saturating: now.timeIntervalSince1970)
        return "t=\(time),v1=\(code("\(time).", body, key))"
    }

    /// Signature `<unix milliseconds>:<hex>`. Each half is sent in its own header (suki.md section 7).
    package static func stamped(of body: Data, key: String, at now: Date) -> String {
        let time = Int64(saturating: (now.timeIntervalSince1970 * 1000).rounded())
        return "\(time):\(code("\(time):", body, key))"
    }

    private static func code(_ stamp: String, _ body: Data, _ key: String) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: Data(key.utf8)))
        code.update(data: Data(stamp.utf8))
        code.update(data: body)
        return Hex.encode(code.finalize())
    }
}
