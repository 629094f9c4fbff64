import Foundation
import JWTKit
package import ScribeDomain

/// Verifies the tokens of one other issuer, such as Firebase, by its published keys.
package struct ForeignTokens: Sendable {
    /// Why no token of theirs can be verified.
    package struct UnusableKeys: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Claims: JWTPayload {
        let iss: String
        let aud: AudienceClaim
        let exp: Double
        let sub: String
        /// Firebase's own name for it.
        let user: String?

        enum CodingKeys: String, CodingKey {
            case iss, aud, exp, sub
            case user = "user_id"
        }

        /// Time, issuer and audience are judged in ``ForeignTokens/user(of:)``, by the server's clock.
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private let keys: IssuerKeys
    private let published: PublishedKeys
    private let issuer: String
    private let audience: String
    /// The claims of tokens with a valid signature. Each use checks the expiry anew.
    private let verified = RecentValues<String, Claims>(limit: 4096)
    private let clock: WallClock

    /// - Parameters:
    ///   - project: Firebase's; its tokens name it as their audience and at the end of their issuer.
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

    /// The user that a token names.
    /// - Parameter business: see ``PublishedKeys/claims(of:as:by:for:)``.
    /// - Returns: nil for a token that is not theirs, not valid any more, or meant for somebody else.
    /// - Throws: ``PublishedKeys/Problem`` when a token claims to be theirs and their keys cannot be fetched.
    package func user(of token: String, for business: BusinessID) async throws(PublishedKeys.Problem) -> String? {
        let claims: Claims
        if let known = verified[token] {
            claims = known
        } else {
            // What is no JWT of theirs is kept from the parser.
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
