import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct ClientStoreTests {
    @Test("a refresh token is exchanged once, and honoured 60 s more for those who ask in parallel")
    func rotation() async throws {
        let fixture = try StoreFixture()
        let client = Client(principal: fixture.owner, name: "n", workspace: "w", transactionLimit: nil)
        try await fixture.store.register([(client, [UInt8](repeating: 1, count: 32))])
        func hash(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
        let end = fixture.start.addingTimeInterval(1000)
        try await fixture.store.saveRefreshToken(hash: hash(1), of: .init("c-1"), now: fixture.start, expiresAt: end)
        func rotate(_ old: UInt8, _ new: UInt8, after seconds: Double) async throws -> Client? {
            try await fixture.store.rotateRefreshToken(
                hash: hash(old), to: hash(new), now: fixture.start.addingTimeInterval(seconds), expiresAt: end,
                grace: 60
            )
        }
        #expect(try await rotate(1, 2, after: 10) == client)
        #expect(try await rotate(1, 3, after: 70) == client)
        #expect(try await rotate(1, 4, after: 71) == nil)
        #expect(try await rotate(3, 5, after: 500) == client)
        #expect(try await rotate(2, 6, after: 1001) == nil)
        #expect(try await rotate(99, 7, after: 1) == nil)
    }
}
