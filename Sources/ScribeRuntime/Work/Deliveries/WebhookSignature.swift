import Crypto
import Foundation
import ScribeDomain

/// `t=<unix seconds>,v1=<hex>`: receivers split it at the comma and at each equals sign, and take a time that is a few
/// minutes old at most (C-112).
enum WebhookSignature {
    /// Over the exact bytes that are sent, with the key's own bytes.
    static func value(of body: Data, key: String, at now: Date) -> String {
        let time = Int(now.timeIntervalSince1970)
        var code = HMAC<SHA256>(key: SymmetricKey(data: Data(key.utf8)))
        code.update(data: Data("\(time).".utf8))
        code.update(data: body)
        return "t=\(time),v1=\(Hex.encode(code.finalize()))"
    }
}
