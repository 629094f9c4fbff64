package import Foundation
package import ScribeDomain

/// A company whose clinicians log in with tokens of its own (suki.md section 2).
package struct Partner: Hashable, Sendable {
    /// With what its tokens are verified.
    package enum Keys: Hashable, Sendable {
        /// With nothing: they are taken on trust, where the mode allows that.
        case none
        /// A JWK set.
        case set(Data)
        /// Where it is.
        case address(String)
    }

    package let id: String
    /// For whose business its clinicians act.
    package let client: ClientID
    package let keys: Keys
    /// Which of them its tokens must name, where that is set.
    package let issuer: String?
    package let audience: String?
    /// Those whose clinicians may use it under strict authentication; empty for all.
    package let organisations: [String]
    /// Whether one token serves many clinicians, who are told apart by a header.
    package let isBearer: Bool

    package init(
        id: String, client: ClientID, keys: Keys, issuer: String? = nil, audience: String? = nil,
        organisations: [String], isBearer: Bool
    ) {
        self.id = id
        self.client = client
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
        self.organisations = organisations
        self.isBearer = isBearer
    }
}
