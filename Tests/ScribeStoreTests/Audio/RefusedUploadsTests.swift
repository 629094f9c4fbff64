import Basics
import Foundation
import GRDB
import ObjectStorage
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// Uploads that are refused. A refusal is decided before anything is written, so that the writes which share its commit
/// are not rolled back and done again.
struct RefusedUploadsTests {
    private let fixture: StoreFixture
    private let small: Store

    init() throws {
        fixture = try StoreFixture(onSQLite: true)
        var quotas = Quotas()
        quotas.storedBytes = 10
        small = try Store(at: .file("\(fixture.folder.path)/small.sqlite", .normal), quotas: quotas)
    }

    private func object(_ key: String, size: Int = 1) -> StoredObject {
        StoredObject(
            bucket: "bucket", key: key, file: UUID().uuidString, size: size, eTag: String(repeating: "a", count: 32),
            createdAt: fixture.start)
    }

    /// Sends 200 refused uploads beside 200 writes, and returns how often each of those ran.
    private func runsOfNeighbours(
        in store: Store, of upload: @escaping @Sendable () async throws -> Void, refusedWith expected: ScribeError
    ) async -> [Int] {
        let runs = LockedValue([Int](repeating: 0, count: 200))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { await #expect(throws: expected) { try await upload() } }
                group.addTask {
                    try? await store.sqlite.writes.write { db in
                        runs.withLock { $0[number] += 1 }
                        try db.writing.run(
                            "INSERT INTO preferences (business_id, user_id, data, updated_at) VALUES ('b', ?, '{}', 0)",
                            ["\(number)"])
                    }
                }
            }
        }
        return runs.withLock { $0 }
    }

    @Test("a refused upload to an ended protocol session does not repeat other writes of its group")
    func endedSession() async throws {
        try await fixture.initialise(isSession: true)
        let now = fixture.start
        _ = try await fixture.store.transactions.end(fixture.key(), at: now) {
            (transaction, audio) throws(ScribeError) in
            try transaction.end(audio.files, at: now, lifetime: nil)
        }
        let late = object("260510/t/1.wav")
        let runs = await runsOfNeighbours(
            in: fixture.store,
            of: { [fixture] in _ = try await fixture.store.audio.put(late, business: fixture.owner.business) },
            refusedWith: .sessionEnded)
        #expect(runs.allSatisfy { $0 == 1 })
    }

    @Test("a refused upload beyond its business's storage does not repeat other writes of its group")
    func quota() async throws {
        let large = object("large", size: 11)
        let runs = await runsOfNeighbours(
            in: small, of: { [small] in _ = try await small.audio.put(large, business: .init("b-1")) },
            refusedWith: .storageQuotaExceeded)
        #expect(runs.allSatisfy { $0 == 1 })
    }

    @Test("a refused completion of a multipart upload keeps the upload with its parts")
    func multipart() async throws {
        let store = fixture.store
        let upload = MultipartUpload(
            id: "u", bucket: "bucket", key: "k", createdAt: fixture.start)
        try await store.audio.begin(upload, business: fixture.owner.business)
        let part = MultipartPart(
            number: 1, file: "f", size: 1, md5: String(repeating: "a", count: 32), createdAt: fixture.start)
        _ = try await store.audio.putPart(part, of: "u", bucket: "bucket", key: "k", business: fixture.owner.business)
        await #expect(throws: ScribeError.resultNotFound) {
            try await store.audio.complete("u", as: object("k"), business: fixture.owner.business) { _ in
                throw ScribeError.resultNotFound
            }
        }
        let found = try await store.audio.multipartUpload(
            "u", bucket: "bucket", key: "k", business: fixture.owner.business)
        #expect(found?.parts == [part])
    }
}
