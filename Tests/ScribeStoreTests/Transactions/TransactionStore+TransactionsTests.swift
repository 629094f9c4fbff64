import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct TransactionStoreTests {
    @Test("a transaction is read back as it was stored")
    func roundTrip() async throws {
        let fixture = try StoreFixture()
        #expect(try await fixture.initialise() == .created)
        let results = try #require(try await fixture.store.transactions.results(of: fixture.key()))
        #expect(results.transaction.request.audioURL == "s3://bucket/260510/t")
        #expect(results.transaction.owner == fixture.owner)
        #expect(results.documents.map(\.kind) == [.transcript, .custom])
    }

    @Test("the store replays an equal init, and refuses a different one or one after the commit")
    func replay() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        #expect(try await fixture.initialise() == .replayed)
        await #expect(throws: ScribeError.transactionAlreadyInitialized) {
            try await fixture.initialise(audioURL: "s3://bucket/other")
        }
        try await fixture.commit([])
        await #expect(throws: ScribeError.transactionAlreadyInitialized) { try await fixture.initialise() }
    }

    @Test("two businesses may use the same transaction id, and neither sees the other's")
    func isolation() async throws {
        let fixture = try StoreFixture()
        let other = Principal(business: .init("b-2"), user: .init("u-1"), doctor: .init("o"), client: .init("c"))
        try await fixture.initialise()
        try await fixture.initialise(owner: other)
        try await fixture.commit(["1.m4a"])
        let theirs = try #require(try await fixture.store.transactions.results(of: fixture.key(business: "b-2")))
        #expect(theirs.transaction.userStatus == .initialized)
        let history = try await fixture.store.transactions.history(
            business: other.business, user: other.user, patient: nil, after: nil, limit: 10
        )
        #expect(history.items.map(\.business) == [other.business])
        #expect(try await fixture.store.transactions.results(of: fixture.key(business: "b-3")) == nil)
    }

    @Test("a client's transaction limit counts every transaction that it ever started")
    func limit() async throws {
        let fixture = try StoreFixture()
        let client = Client(principal: fixture.owner, name: "n", workspace: "w", transactionLimit: 1)
        try await fixture.store.accounts.register([(client, [UInt8](repeating: 1, count: 32), .file)])
        try await fixture.initialise()
        await #expect(throws: ScribeError.transactionLimitExceeded) { try await fixture.initialise("second") }
    }

    @Test("the store's history lists one user's transactions, newest first, up to the requested number")
    func history() async throws {
        let fixture = try StoreFixture()
        for number in 1...3 {
            try await fixture.initialise("t\(number)", at: fixture.start.addingTimeInterval(Double(number)))
        }
        func list(_ count: Int?, user: String = "u-1") async throws -> [String] {
            try await fixture.store.transactions.history(
                business: .init("b-1"), user: .init(user), patient: nil, after: nil, limit: count ?? 100
            )
            .items.map(\.id.rawValue)
        }
        #expect(try await list(nil) == ["t3", "t2", "t1"])
        #expect(try await list(2) == ["t3", "t2"])
        #expect(try await list(nil, user: "u-2") == [])
    }

    @Test("a change of an unknown transaction is refused")
    func unknown() async throws {
        let fixture = try StoreFixture()
        await #expect(throws: ScribeError.transactionNotFound) { try await fixture.commit([]) }
    }
}
