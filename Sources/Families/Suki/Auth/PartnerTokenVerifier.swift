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
        guard token.utf8.count <= 16_384, let parsed = UnverifiedToken(token) else {
            throw SukiError.invalidRequest("partner_token is no JWT")
        }
        if let keys = partner.keys {
            guard parsed.algorithm == "RS256", partner.issuer == nil || partner.issuer == parsed.issuer,
                partner.audience.map(parsed.audiences.contains) ?? true,
                let claims = try await claims(of: token, keys, business), claims.exp > clock.now.timeIntervalSince1970
            else { throw SukiError.invalidPartnerToken }
        } else if isStrict {
            throw SukiError.invalidPartnerToken
        }
        guard let subject = parsed.user ?? parsed.email, !subject.isEmpty, subject.isPlain, subject.utf8.count <= 255
        else { throw SukiError.invalidRequest("partner_token names no user: sub or email") }
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
            case .unreachable: SukiError.keysUnreachable
            case .unusable: SukiError.keysUnusable
            }
        }
    }
}
