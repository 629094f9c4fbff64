import Basics
package import Crypto
package import Foundation
package import ScribeDomain

/// Issues and redeems signed tickets, for links that are credentials themselves.
package struct Tickets: Sendable {
    private let key: SymmetricKey
    private let clock: WorldClock
    private let place: WorldPlace

    private struct Claims: Codable {
        let purpose: String
        let business: String
        let user: String
        let doctor: String
        let client: String
        let subject: String
        let expires: Int
        /// Offset of the world's clock at issue, in seconds; absent for 0.
        let offset: TimeInterval?
        /// Number of the world's state; absent for 1.
        let state: Int?

        enum CodingKeys: String, CodingKey {
            case purpose = "p"
            case business = "b"
            case user = "u"
            case doctor = "o"
            case client = "c"
            case subject = "s"
            case expires = "e"
            case offset = "w"
            case state = "n"
        }
    }

    /// - Parameter key: Key of the data folder; tickets use a key derived from it.
    package init(key: SymmetricKey, clock: WorldClock, place: WorldPlace = WorldPlace()) {
        self.key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, info: Data("tickets".utf8), outputByteCount: 32)
        self.clock = clock
        self.place = place
    }

    /// Issues a signed ticket.
    /// - Parameters:
    ///   - subject: The object that the ticket admits to, such as a session's id.
    ///   - lifetime: Validity in seconds.
    package func issue(
        _ purpose: String, for subject: String, to principal: Principal, lifetime: TimeInterval
    ) throws -> String {
        let claims = Claims(
            purpose: purpose, business: principal.business.rawValue, user: principal.user.rawValue,
            doctor: principal.doctor.rawValue, client: principal.client.rawValue, subject: subject,
            // Rounded up, so that a ticket lives at least as long as promised.
            expires: Int(saturating: (clock.wall.now.timeIntervalSince1970 + lifetime).rounded(.up)),
            offset: clock.offset == 0 ? nil : clock.offset, state: place.stateClaim)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = Base64URL.encode(try encoder.encode(claims))
        return place.namespace.mark("\(text).\(Base64URL.encode(Data(code(of: text))))")
    }

    /// The subject and principal of a ticket; nil for one that is expired, for another purpose, or forged.
    package func redeem(_ ticket: String, _ purpose: String) -> (subject: String, principal: Principal)? {
        let mark = place.namespace.mark("")
        guard ticket.hasPrefix(mark) else { return nil }
        let parts = ticket.dropFirst(mark.count).split(ascii: ".", omittingEmptySubsequences: false).map(String.init)
        guard ticket.utf8.count <= 4096, parts.count == 2, let signature = Base64URL.decode(parts[1]),
            HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: Data(parts[0].utf8), using: key),
            let data = Base64URL.decode(parts[0]), let claims = try? JSONDocument(data).decode(Claims.self),
            claims.purpose == purpose, claims.state == place.stateClaim,
            !clock.hasPassed(Double(claims.expires), issuedAt: claims.offset)
        else { return nil }
        let principal = Principal(
            businessID: claims.business, userID: claims.user, doctorID: claims.doctor, clientID: claims.client)
        return (claims.subject, principal)
    }

    private func code(of text: String) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
    }
}

/// Encodes base64 in the URL-safe alphabet (RFC 4648, section 5), without padding.
package enum Base64URL {
    package static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Decodes URL-safe base64 without padding.
    /// - Returns: nil for other encodings of the same bytes: padded, in the other alphabet, or with stray bits.
    static func decode(_ text: String) -> Data? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let data = Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
        return data.flatMap { encode($0) == text ? $0 : nil }
    }
}
