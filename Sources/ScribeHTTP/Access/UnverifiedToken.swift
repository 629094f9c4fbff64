import Basics
import Foundation

/// Parses any JWT without verifying it, to find its issuer and owner.
///
/// Not with JWTKit's parser: there a header number beyond any integer ends the process.
package struct UnverifiedToken {
    /// Issuer; nil also if the claim is no string, as no token of this server has it.
    package let issuer: String?
    package let keyID: String?
    /// Algorithm of the header. A verifier that accepts several must require the expected one.
    package let algorithm: String?
    /// Claimed user: Firebase's `user_id`, else `sub`.
    package let user: String?
    package let email: String?
    /// Claimed audiences.
    package let audiences: [String]
    /// Claimed namespace. Only tokens of a namespace of this server have the claim.
    package let namespace: String?
    /// Name of the claim with the namespace.
    package static let namespaceClaim = "scribe-ns"

    /// Parses a JWT without verifying it.
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
        namespace = claims[Self.namespaceClaim]?.stringValue
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
