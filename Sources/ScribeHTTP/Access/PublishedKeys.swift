package import Basics
import Engines
package import Foundation
package import JWTKit
import NIOCore
package import Outbound
package import ScribeDomain

/// Verifies tokens with their issuers' JWK sets. A set at a URL is cached, and fetched again when stale.
package actor PublishedKeys {
    /// Error of fetching or parsing a JWK set.
    package enum Problem: Error {
        case unreachable
        /// The document is no JWK set.
        case unusable
    }

    private struct Fetched {
        let keys: JWTKeyCollection
        let time: Date
    }

    private let outbound: OutboundClient
    private let clock: WallClock
    /// Parsed sets from the configuration; as many as were ever configured.
    private var parsed: [Data: JWTKeyCollection] = [:]
    private var fetched: [String: Fetched] = [:]
    /// The last failed fetch, by URL. For 10 s afterwards callers are refused at once.
    private var failed: [String: (problem: Problem, time: Date)] = [:]
    /// Fetches in progress, by URL. Concurrent callers share one fetch.
    private var fetches: [String: Task<JWTKeyCollection, any Error>] = [:]

    private static let freshTime = 600.0
    /// Least time between two fetches, in seconds. A token that no key fits may be signed with a newer key.
    private static let shortestPause = 10.0
    private static let fetchTime: Duration = .seconds(10)
    private static let largestSet = 256 << 10

    package init(outbound: OutboundClient, clock: WallClock) {
        self.outbound = outbound
        self.clock = clock
    }

    /// The claims of a token with a valid signature. Rotated keys are fetched.
    /// - Parameter business: The business that waits; DNS lookups are shared fairly between businesses.
    /// - Returns: nil if no key fits.
    package func claims<Claims: JWTPayload>(
        of token: String, as type: Claims.Type, by keys: IssuerKeys, for business: BusinessID
    ) async throws(Problem) -> Claims? {
        switch keys {
        case .set(let set):
            let keys = if let known = parsed[set] { known } else { try await Self.keys(in: set) }
            parsed[set] = keys
            return try? await keys.verify(token, as: Claims.self)
        case .address(let address):
            let known = try await self.keys(at: address, for: business, newerThan: Self.freshTime)
            if let claims = try? await known.verify(token, as: Claims.self) { return claims }
            let fresh = try await self.keys(at: address, for: business, newerThan: Self.shortestPause)
            return fresh === known ? nil : try? await fresh.verify(token, as: Claims.self)
        }
    }

    /// Parses a JWK set.
    /// - Throws: ``Problem/unusable``.
    package static func keys(in set: Data) async throws(Problem) -> JWTKeyCollection {
        let keys = JWTKeyCollection()
        do {
            try await keys.add(jwksJSON: String(decoding: set, as: UTF8.self))
        } catch {
            throw .unusable
        }
        return keys
    }

    private func keys(
        at address: String, for business: BusinessID, newerThan age: Double
    ) async throws(Problem) -> JWTKeyCollection {
        if let known = fetched[address], clock.now.timeIntervalSince(known.time) < age { return known.keys }
        if let last = failed[address], clock.now.timeIntervalSince(last.time) < Self.shortestPause {
            throw last.problem
        }
        // An unstructured task: the first caller may disconnect while others wait for the same fetch.
        let joined = fetches[address] ?? Task { try await fetch(address, for: business) }
        fetches[address] = joined
        do {
            return try await joined.value
        } catch {
            throw error as? Problem ?? .unreachable
        }
    }

    private func fetch(_ address: String, for business: BusinessID) async throws -> JWTKeyCollection {
        defer { fetches[address] = nil }
        do {
            let keys = try await fetchedKeys(at: address, for: business)
            fetched[address] = Fetched(keys: keys, time: clock.now)
            return keys
        } catch {
            failed[address] = (error, clock.now)
            throw error
        }
    }

    private func fetchedKeys(
        at address: String, for business: BusinessID
    ) async throws(Problem) -> JWTKeyCollection {
        let data: Data
        do {
            data = try await outbound.get(try OutboundURL(address), within: Self.fetchTime, for: business) {
                answer in
                var data = Data()
                for try await piece in answer {
                    data.append(contentsOf: piece.readableBytesView)
                    guard data.count <= Self.largestSet else { throw OutboundError.unreachable }
                }
                return data
            }
        } catch {
            throw .unreachable
        }
        return try await Self.keys(in: data)
    }
}
