package import Engines
package import Foundation
package import JWTKit
import NIOCore
package import ScribeDomain

/// Verifies tokens by their issuers' JWK sets. A set that is published at a URL is kept, and fetched again.
package actor PublishedKeys {
    /// Why a set cannot be used.
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
    /// Sets that are no URL's; as many as were ever configured.
    private var parsed: [Data: JWTKeyCollection] = [:]
    private var fetched: [String: Fetched] = [:]
    /// When a fetch failed last: whoever needs the keys shortly after is refused at once.
    private var failed: [String: Date] = [:]
    /// Fetches under way: whoever needs the same keys meanwhile waits for the same answer.
    private var fetches: [String: Task<JWTKeyCollection, any Error>] = [:]

    private static let freshTime = 600.0
    /// A token that no key fits may be signed with a new one: a set is fetched for it no more often than this, in seconds.
    private static let shortestPause = 10.0
    private static let fetchTime: Duration = .seconds(10)
    private static let largestSet = 256 << 10

    package init(outbound: OutboundClient, clock: WallClock) {
        self.outbound = outbound
        self.clock = clock
    }

    /// The claims of a token that one of the keys has signed; keys that were rotated are found.
    /// - Parameter business: the business that waits; where several wait for a name to be looked up, they take turns.
    /// - Returns: nil when no key fits.
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
        if let time = failed[address], clock.now.timeIntervalSince(time) < Self.shortestPause { throw .unreachable }
        // A task of its own: whoever has asked first may hang up, and others wait for it.
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
            throw Problem.unreachable
        }
        let keys = try await Self.keys(in: data)
        fetched[address] = Fetched(keys: keys, time: clock.now)
        return keys
    }
}
