import Basics
import Engines
import Foundation
import HTTPTypes
import JWTKit
import Outbound
import ScribeDomain
import ScribeHTTP

/// Verifies partners' tokens with the JWK sets that partners publish, fetched over the network.
struct PartnerTokenVerifier: Sendable {
    /// Verified claims of a partner's token.
    private struct Claims: JWTPayload {
        let exp: Double

        /// Checks nothing: ``PartnerTokenVerifier`` compares the expiry with the server's clock.
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private let published: PublishedKeys
    private let clock: WallClock

    static let refused = SukiError(.unauthorized, "invalid_partner_token", "token validation failed")
    private static let malformed = SukiError(.badRequest, "invalid_request", "partner_token is no JWT")

    init(outbound: OutboundClient, clock: WallClock) {
        published = PublishedKeys(outbound: outbound, clock: clock)
        self.clock = clock
    }

    /// Verifies a token, and returns its user id or email. Outside strict mode a partner without configured keys is
    /// trusted: neither signature nor expiry is checked.
    /// - Throws: ``SukiError``.
    func subject(of token: String, from partner: Partner, of business: BusinessID, isStrict: Bool) async throws
        -> String
    {
        guard token.utf8.count <= 16_384, let parsed = UnverifiedToken(token) else { throw Self.malformed }
        if let keys = partner.keys {
            guard parsed.algorithm == "RS256", partner.issuer == nil || partner.issuer == parsed.issuer,
                partner.audience.map(parsed.audiences.contains) ?? true,
                let claims = try await claims(of: token, keys, business), claims.exp > clock.now.timeIntervalSince1970
            else { throw Self.refused }
        } else if isStrict {
            throw Self.refused
        }
        guard let subject = parsed.user ?? parsed.email, !subject.isEmpty, subject.isPlain, subject.utf8.count <= 255
        else { throw SukiError(.badRequest, "invalid_request", "partner_token names no user: sub or email") }
        return subject
    }

    /// The claims of a token with a valid signature; nil for any other token.
    private func claims(
        of token: String, _ keys: IssuerKeys, _ business: BusinessID
    ) async throws(SukiError) -> Claims? {
        do {
            return try await published.claims(of: token, as: Claims.self, by: keys, for: business)
        } catch {
            throw switch error {
            case .unreachable:
                SukiError(.badGateway, "partner_jwks_unreachable", "the partner's keys cannot be fetched")
            case .unusable:
                SukiError(.badGateway, "partner_jwks_unusable", "the partner's keys are no JWK set")
            }
        }
    }
}
