import Foundation
import ScribeDomain

/// Enough of any JWT to see whose it is, before anything vouches for it.
///
/// Not by JWTKit's parser: a number in the header that no integer holds ends the process there.
package struct UnverifiedToken {
    /// Nil also for one that is no text: it is simply not ours.
    package let issuer: String?
    package let keyID: String?
    /// As its header says: of a verifier that takes several, only the expected one may choose.
    package let algorithm: String?
    /// Whose it says to be: `user_id` as Firebase has it, else `sub`.
    package let user: String?
    package let email: String?
    /// Whom it is for.
    package let audiences: [String]

    /// - Returns: nil for a text that is no JWT.
    package init?(_ token: String) {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]) else {
            return nil
        }
        issuer = claims["iss"]?.stringValue
        keyID = header["kid"]?.stringValue
        algorithm = header["alg"]?.stringValue
        user = (claims["user_id"] ?? claims["sub"])?.stringValue
        email = claims["email"]?.stringValue
        if case .array(let items)? = claims["aud"] {
            audiences = items.compactMap(\.stringValue)
        } else {
            audiences = [claims["aud"]?.stringValue].compactMap(\.self)
        }
    }

    private static func object(_ part: Substring.UTF8View) -> JSONValue? {
        var text = part.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        text += [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(text)),
            let json = JSONDocument.untrusted(data, as: JSONValue.self), json.isObject
        else { return nil }
        return json
    }
}
