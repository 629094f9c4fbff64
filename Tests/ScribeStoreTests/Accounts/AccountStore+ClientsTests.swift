import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct ClientStoreTests {
    let client = Client(
        principal: Principal(business: .init("b-1"), user: .init("u-1"), doctor: .init("o-1"), client: .init("c-1")),
        name: "n", workspace: "w", transactionLimit: nil)

    @Test("a refresh token is exchanged once, and accepted for 60 s more for parallel requests")
    func rotation() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.accounts.register([(client, [UInt8](repeating: 1, count: 32), .file)])
        func hash(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
        let end = fixture.start.addingTimeInterval(1000)
        try await fixture.store.accounts.saveRefreshToken(
            hash: hash(1), of: .init("c-1"), RefreshPeriod(now: fixture.start, end: end))
        func rotate(_ old: UInt8, _ new: UInt8, after seconds: Double) async throws -> Client? {
            try await fixture.store.accounts.rotateRefreshToken(
                hash: hash(old), to: hash(new), RefreshPeriod(now: fixture.start.addingTimeInterval(seconds), end: end),
                grace: 60
            ).client
        }
        #expect(try await rotate(1, 2, after: 10) == client)
        #expect(try await rotate(1, 2, after: 70) == client)
        #expect(try await rotate(2, 3, after: 500) == client)
        #expect(try await rotate(3, 4, after: 1001) == nil)
        #expect(try await rotate(99, 7, after: 1) == nil)
    }

    @Test("a reused refresh token ends all tokens of its login, and no others")
    func reuse() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.accounts.register([(client, hash(1), .file)])
        let end = fixture.start.addingTimeInterval(1000)
        for login: UInt8 in [1, 11] {
            try await fixture.store.accounts.saveRefreshToken(
                hash: hash(login), of: .init("c-1"), RefreshPeriod(now: fixture.start, end: end))
        }
        func rotate(_ old: UInt8, _ new: UInt8, after seconds: Double) async throws -> Client? {
            try await fixture.store.accounts.rotateRefreshToken(
                hash: hash(old), to: hash(new), RefreshPeriod(now: fixture.start.addingTimeInterval(seconds), end: end),
                grace: 60
            ).client
        }
        #expect(try await rotate(1, 2, after: 10) == client)
        #expect(try await rotate(2, 3, after: 20) == client)
        #expect(try await rotate(1, 2, after: 71) == nil)
        #expect(try await rotate(3, 4, after: 72) == nil, "whoever has it may have stolen it")
        #expect(try await rotate(11, 12, after: 73) == client)
        #expect(try await fixture.store.accounts.endedLogins() == [hash(1)])
    }

    @Test("the grace of a refresh token ends by either clock", arguments: [(59.0, false), (61, true), (-3600, false)])
    func movedClock(offset: TimeInterval, isReused: Bool) async throws {
        let fixture = try StoreFixture()
        try await fixture.store.accounts.register([(client, hash(1), .file)])
        func period(_ offset: TimeInterval) -> RefreshPeriod {
            RefreshPeriod(now: fixture.start, end: fixture.start.addingTimeInterval(10_000), offset: offset)
        }
        try await fixture.store.accounts.saveRefreshToken(hash: hash(5), of: .init("c-1"), period(1000))
        for offset in [1000, 1000 + offset] {
            let outcome = try await fixture.store.accounts.rotateRefreshToken(
                hash: hash(5), to: hash(6), period(offset), grace: 60)
            #expect(
                outcome
                    == (isReused && offset > 1000
                        ? .reused(login: hash(5)) : .rotated(client, login: hash(5))))
        }
    }

    @Test(
        "a new secret, or a move to another business, ends a client's refresh tokens")
    func changedClient() async throws {
        for change in ["nothing", "secret", "business"] {
            let fixture = try StoreFixture()
            try await fixture.store.accounts.register([(client, hash(1), .file)])
            let end = fixture.start.addingTimeInterval(1000)
            try await fixture.store.accounts.saveRefreshToken(
                hash: hash(5), of: .init("c-1"), RefreshPeriod(now: fixture.start, end: end))
            let moved = Client(
                principal: Principal(
                    business: .init("b-2"), user: client.principal.user, doctor: client.principal.doctor,
                    client: client.principal.client),
                name: client.name, workspace: client.workspace, transactionLimit: nil)
            try await fixture.store.accounts.register([
                (change == "business" ? moved : client, hash(change == "secret" ? 2 : 1), .file)
            ])
            let refreshed = try await fixture.store.accounts.rotateRefreshToken(
                hash: hash(5), to: hash(6), RefreshPeriod(now: fixture.start, end: end), grace: 60
            ).client
            #expect((refreshed != nil) == (change == "nothing"), "\(change)")
        }
    }

    private func hash(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
}

extension RefreshOutcome {
    fileprivate var client: Client? {
        guard case .rotated(let client, _) = self else { return nil }
        return client
    }
}
