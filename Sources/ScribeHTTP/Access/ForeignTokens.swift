package import Basics
import Foundation
import JWTKit
package import ScribeDomain

/// Verifies tokens of one other issuer, such as Firebase, with its published keys.
package struct ForeignTokens: Sendable {
    /// The configured keys cannot verify any token; the description says why.
    package struct UnusableKeys: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Claims: JWTPayload {
        let iss: String
        let aud: AudienceClaim
        let exp: Double
        let sub: String
        /// Firebase's user id, in its own claim.
        let user: String?

        enum CodingKeys: String, CodingKey {
            case iss, aud, exp, sub
            case user = "user_id"
        }

        /// Checks nothing: ``ForeignTokens/user(of:for:)`` checks time, issuer and audience with the server's clock.
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private let keys: IssuerKeys
    private let published: PublishedKeys
    private let issuer: String
    private let audience: String
    /// Claims of tokens with a valid signature. Each use checks the expiry again.
    private let verified = RecentValues<String, Claims>(limit: 4096)
    private let clock: WallClock

    /// Prepares the verification of one issuer's tokens.
    /// - Parameter project: Firebase project; tokens name it as audience and at the end of the issuer.
    /// - Throws: ``UnusableKeys``.
    package init(
        _ keys: IssuerKeys, _ published: PublishedKeys, project: String, clock: WallClock
    ) async throws {
        if case .set(let data) = keys, (try? await PublishedKeys.keys(in: data)) == nil {
            throw UnusableKeys(description: "the keys are no JWK set that can be used")
        }
        self.keys = keys
        self.published = published
        issuer = "https://securetoken.google.com/\(project)"
        audience = project
        self.clock = clock
    }

    /// Verifies a token, and returns its user.
    /// - Parameter business: See ``PublishedKeys/claims(of:as:by:for:)``.
    /// - Returns: nil for a token of another issuer or audience, or an expired one.
    /// - Throws: ``PublishedKeys/Problem`` if the token names this issuer, and its keys cannot be fetched.
    package func user(of token: String, for business: BusinessID) async throws(PublishedKeys.Problem) -> String? {
        let claims: Claims
        if let known = verified[token] {
            claims = known
        } else {
            // Tokens of other issuers are rejected before the JWT library parses them.
            guard let parsed = UnverifiedToken(token), parsed.issuer == issuer, parsed.keyID != nil,
                parsed.algorithm == "RS256",
                let found = try await published.claims(of: token, as: Claims.self, by: keys, for: business)
            else { return nil }
            claims = found
            verified.remember(claims, of: token)
        }
        guard claims.iss == issuer, claims.aud.value.contains(audience), claims.exp > clock.now.timeIntervalSince1970,
            !claims.sub.isEmpty
        else { return nil }
        return claims.user ?? claims.sub
    }
}
