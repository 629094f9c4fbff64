import Engines
import Foundation
import HTTPTypes
import JWTKit
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Verifies partners' tokens by the keys that they publish.
actor PartnerTokens {
    /// Whose token it is, by the partner's own word.
    private struct Claims: JWTPayload {
        let exp: Double

        /// Time is judged by the server's clock.
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private struct Fetched {
        let keys: JWTKeyCollection
        let time: Date
    }

    private let outbound: OutboundClient
    private let clock: ScribeClock
    private var fetched: [String: Fetched] = [:]
    /// When nobody answered last: whoever logs in meanwhile is told so at once.
    private var failed: [String: Date] = [:]
    /// Those on their way: whoever needs the same keys meanwhile waits for the same answer.
    private var fetches: [String: Task<JWTKeyCollection, any Error>] = [:]

    private static let freshTime = 600.0
    /// A token that no key fits may be of a new one: it is looked for no more often than this, in seconds.
    private static let shortestPause = 10.0
    private static let fetchTime: Duration = .seconds(10)
    private static let largestSet = 256 << 10

    private static let unreachable = SukiError(
        .badGateway, "partner_jwks_unreachable", "the partner's keys cannot be fetched")
    static let refused = SukiError(.unauthorized, "invalid_partner_token", "token validation failed")
    private static let malformed = SukiError(.badRequest, "invalid_request", "partner_token is no JWT")

    init(outbound: OutboundClient, clock: ScribeClock) {
        self.outbound = outbound
        self.clock = clock
    }

    /// Who a token names.
    /// - Throws: ``SukiError``.
    func subject(of token: String, from partner: Partner, of business: BusinessID, isStrict: Bool) async throws
        -> String
    {
        guard token.utf8.count <= 16_384, let parsed = UnverifiedToken(token) else { throw Self.malformed }
        if partner.keys != .none {
            guard parsed.algorithm == "RS256", partner.issuer == nil || partner.issuer == parsed.issuer,
                partner.audience.map(parsed.audiences.contains) ?? true
            else { throw Self.refused }
        }
        switch partner.keys {
        case .none: if isStrict { throw Self.refused }
        case .set(let data): try await verify(token, with: try await Self.keys(in: data))
        case .address(let address):
            do {
                try await verify(token, with: try await keys(at: address, for: business, newerThan: Self.freshTime))
            } catch {
                guard error == Self.refused else { throw error }
                try await verify(token, with: try await keys(at: address, for: business, newerThan: Self.shortestPause))
            }
        }
        guard let subject = parsed.user ?? parsed.email, !subject.isEmpty, subject.isPlain, subject.utf8.count <= 255
        else { throw SukiError(.badRequest, "invalid_request", "partner_token names no user: sub or email") }
        return subject
    }

    private func verify(_ token: String, with keys: JWTKeyCollection) async throws(SukiError) {
        guard let claims = try? await keys.verify(token, as: Claims.self), claims.exp > clock.now.timeIntervalSince1970
        else { throw Self.refused }
    }

    private static func keys(in set: Data) async throws(SukiError) -> JWTKeyCollection {
        let keys = JWTKeyCollection()
        do {
            try await keys.add(jwksJSON: String(decoding: set, as: UTF8.self))
        } catch {
            throw SukiError(.badGateway, "partner_jwks_unusable", "the partner's keys are no JWK set")
        }
        return keys
    }

    private func keys(
        at address: String, for business: BusinessID, newerThan age: Double
    ) async throws(SukiError) -> JWTKeyCollection {
        if let known = fetched[address], clock.now.timeIntervalSince(known.time) < age { return known.keys }
        if let time = failed[address], clock.now.timeIntervalSince(time) < Self.shortestPause { throw Self.unreachable }
        // A task of its own: whoever has asked first may hang up, and others wait for it.
        let joined = fetches[address] ?? Task { try await fetch(address, for: business) }
        fetches[address] = joined
        do {
            return try await joined.value
        } catch {
            throw error as? SukiError ?? Self.unreachable
        }
    }

    private func fetch(_ address: String, for business: BusinessID) async throws -> JWTKeyCollection {
        defer { fetches[address] = nil }
        let data: Data
        do {
            data = try await outbound.get(try OutboundAddress(address), within: Self.fetchTime, for: business) {
                answer in
                var data = Data()
                for try await piece in answer {
                    data.append(contentsOf: piece.readableBytesView)
                    guard data.count <= Self.largestSet else { throw OutboundProblem.unreachable }
                }
                return data
            }
        } catch {
            failed[address] = clock.now
            throw Self.unreachable
        }
        let keys = try await Self.keys(in: data)
        fetched[address] = Fetched(keys: keys, time: clock.now)
        return keys
    }
}
