package import Crypto
package import Foundation
package import ScribeDomain

/// Texts that say what they are good for, and cannot be made up: for links that are credentials themselves.
package struct Tickets: Sendable {
    private let key: SymmetricKey
    private let clock: WorldClock

    private struct Claims: Codable {
        let purpose: String
        let business: String
        let user: String
        let doctor: String
        let client: String
        let subject: String
        let expires: Int
        /// Of the world's clock when it was issued, in seconds; absent where there was none.
        let offset: TimeInterval?

        enum CodingKeys: String, CodingKey {
            case purpose = "p"
            case business = "b"
            case user = "u"
            case doctor = "o"
            case client = "c"
            case subject = "s"
            case expires = "e"
            case offset = "w"
        }
    }

    /// - Parameter key: kept in the data folder; what is derived from it is of no use for anything else.
    package init(key: SymmetricKey, clock: WorldClock) {
        self.key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, info: Data("tickets".utf8), outputByteCount: 32)
        self.clock = clock
    }

    /// - Parameters:
    ///   - subject: what it is good for, such as a session's id.
    ///   - lifetime: in seconds.
    package func issue(
        _ purpose: String, for subject: String, to principal: Principal, lifetime: TimeInterval
    ) throws -> String {
        let claims = Claims(
            purpose: purpose, business: principal.business.rawValue, user: principal.user.rawValue,
            doctor: principal.doctor.rawValue, client: principal.client.rawValue, subject: subject,
            // Nobody gets less than is said.
            expires: Int((clock.wall.now.timeIntervalSince1970 + lifetime).rounded(.up)),
            offset: clock.offset == 0 ? nil : clock.offset)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = Base64URL.encode(try encoder.encode(claims))
        return "\(text).\(Base64URL.encode(Data(code(of: text))))"
    }

    /// What a ticket is good for; nil for one that is expired, for something else, or made up.
    package func redeem(_ ticket: String, _ purpose: String) -> (subject: String, principal: Principal)? {
        let parts = ticket.split(ascii: ".", omittingEmptySubsequences: false).map(String.init)
        guard ticket.utf8.count <= 4096, parts.count == 2, let signature = Base64URL.decode(parts[1]),
            HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: Data(parts[0].utf8), using: key),
            let data = Base64URL.decode(parts[0]), let claims = try? JSONDecoder().decode(Claims.self, from: data),
            claims.purpose == purpose, !clock.hasPassed(Double(claims.expires), issuedAt: claims.offset)
        else { return nil }
        let principal = Principal(
            businessID: claims.business, userID: claims.user, doctorID: claims.doctor, clientID: claims.client)
        return (claims.subject, principal)
    }

    private func code(of text: String) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
    }
}

/// The alphabet that needs no escapes in a URL (RFC 4648, section 5), without padding.
package enum Base64URL {
    package static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// - Returns: nil for any other spelling of the same bytes: padded, of the other alphabet, or with bits that mean nothing.
    static func decode(_ text: String) -> Data? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let data = Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
        return data.flatMap { encode($0) == text ? $0 : nil }
    }
}
