package import ScribeDomain
package import ScribeHTTP

/// A company whose clinicians log in with the company's own tokens (suki.md section 2).
package struct Partner: Hashable, Sendable {
    package let id: String
    /// Client whose business the partner's clinicians belong to.
    package let client: ClientID
    /// Keys that verify the partner's tokens. Without keys, strict mode refuses the tokens, and other modes trust them
    /// unverified.
    package let keys: IssuerKeys?
    /// Issuer and audience that tokens must name, if set.
    package let issuer: String?
    package let audience: String?
    /// Values of `provider_org_id` that may register in strict mode; empty for all.
    package let organisations: [String]
    /// True if a token serves many clinicians. The login and a header then name the clinician.
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
