package import ScribeDomain
package import ScribeHTTP

/// A company whose clinicians log in with tokens of its own (suki.md section 2).
package struct Partner: Hashable, Sendable {
    package let id: String
    /// For whose business its clinicians act.
    package let client: ClientID
    /// With which its tokens are verified; nil where they are taken on trust, where the mode allows that.
    package let keys: IssuerKeys?
    /// Which of them its tokens must name, where that is set.
    package let issuer: String?
    package let audience: String?
    /// Those whose clinicians may use it under strict authentication; empty for all.
    package let organisations: [String]
    /// Whether one token serves many clinicians, who are told apart by a header.
    package let isBearer: Bool

    package init(
        id: String, client: ClientID, keys: IssuerKeys?, issuer: String? = nil, audience: String? = nil,
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
