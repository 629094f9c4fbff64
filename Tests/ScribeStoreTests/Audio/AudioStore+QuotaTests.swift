import Basics
import Foundation
import NIOCore
import NIOPosix
import ObjectStorage
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// What counts as stored, and what is refused beyond it.
struct AudioStoreQuotaTests {
    private let folder: TemporaryFolder
    private let store: Store
    private let start = Date(timeIntervalSince1970: 1_778_404_353)
    private let owner = Principal(
        business: .init("b-1"), user: .init("u-1"), doctor: .init("o-1"), client: .init("c-1"))
    private var key: Transaction.Key { .init(business: owner.business, id: .init("t")) }

    init() throws {
        folder = try TemporaryFolder()
        var quotas = Quotas()
        quotas.storedBytes = 10_000
        store = try Store(at: TestDatabase.place("\(folder.path)/scribe.sqlite"), quotas: quotas)
    }

    private func stored(_ business: String = "b-1") async throws -> Int {
        try await store.audio.storedBytes(of: .init(business))
    }

    private func text(_ count: Int) -> String { String(repeating: "é", count: count / 2) }

    private func begin() async throws {
        let transaction = Transaction(
            id: key.id, owner: owner, request: TransactionRequest(transfer: .vaded, audioURL: "s3://bucket/t"),
            createdAt: start)
        _ = try await store.transactions.initialise(
            transaction, documents: [document("d-1", .transcript), document("d-2", .custom)])
    }

    private func document(_ id: String, _ kind: ResultDocument.Kind = .notes, _ value: String? = nil) -> ResultDocument
    {
        var document = ResultDocument(
            id: .init(id), kind: kind, templateID: .init(kind.rawValue), name: id,
            format: kind == .transcript ? .transcript : .markdown)
        document.value = value
        if value != nil { document.status = .success }
        return document
    }

    private func add(_ id: String, _ value: String, _ change: DocumentChange = .init()) async throws {
        _ = try await store.documents.add(document(id, .notes, value), change, to: key, at: start) { $0 }
    }

    @Test("documents that a client writes or corrects count towards the storage quota, with their editor content")
    func documents() async throws {
        try await begin()
        let empty = try await stored()
        try await add("own", text(4000), DocumentChange(editorContent: .object(["a": .string(text(1000))])))
        let one = try await stored() - empty
        #expect((5000...5100).contains(one))
        _ = try await store.documents.rewrite(
            .init("own"), of: owner.business, DocumentChange(value: text(2000)), at: start)
        #expect(try await stored() - empty == one - 2000)
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await add("more", text(8000)) }
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            _ = try await store.documents.rewrite(
                .init("own"), of: owner.business, DocumentChange(value: text(9000)), at: start)
        }
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            try await store.documents.edit(
                key, [ResultEdit(target: .document(.init("d-2")), value: text(8000))], at: start)
        }
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            _ = try await store.documents.convert(
                key, to: document("d-3", .custom), from: .transcript(text(8000)), at: start)
        }
        #expect(try await stored() - empty == one - 2000, "what was refused is not there")
        try await store.documents.edit(key, [ResultEdit(target: .document(.init("d-2")), value: text(500))], at: start)
        #expect(try await stored() - empty == one - 1500)
    }

    @Test("results of the server count towards the quota, are never refused, and may be shortened beyond it")
    func results() async throws {
        try await begin()
        try await add("own", text(6000))
        try await store.database.write(.none) { db in
            var written = document("d-1", .transcript, text(6000))
            written.status = .success
            try WorkStore.write([written], at: start, in: db)
        }
        #expect(try await stored() >= 12_000)
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await add("more", "x") }
        _ = try await store.documents.rewrite(
            .init("own"), of: owner.business, DocumentChange(value: text(5000)), at: start)
    }

    @Test("pictures, preferences and multipart parts count towards the storage quota until they are deleted")
    func others() async throws {
        let begun = try #require(
            try await store.conversations.begin(
                Conversation(
                    id: "c-1", owner: owner, source: "omi", language: nil, createdAt: start, startedAt: start,
                    finishedAt: start, timeout: 120)))
        let photo = { (id: String, size: Int) in
            ConversationPhoto(id: id, base64: String(repeating: "a", count: size), createdAt: start)
        }
        #expect(try await store.conversations.addPhoto(photo("p-1", 3000), to: begun.id, at: start))
        #expect(try await stored() == 3000)
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            _ = try await store.conversations.addPhoto(photo("p-2", 7001), to: begun.id, at: start)
        }
        try await store.accounts.setPreferences(
            .object(["header": .string(text(2000))]), of: owner.user, in: owner.business, upTo: 1 << 20, at: start)
        let preferences = try await stored() - 3000
        #expect(preferences > 2000)
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            try await store.accounts.setPreferences(
                .object(["header": .string(text(9000))]), of: owner.user, in: owner.business, upTo: 1 << 20, at: start)
        }
        try await store.accounts.setPreferences(
            .object(["header": .null]), of: owner.user, in: owner.business, upTo: 1 << 20, at: start)
        #expect(try await stored() < 3010)

        let upload = MultipartUpload(
            id: "up", bucket: "b", key: "k", createdAt: start)
        try await store.audio.begin(upload, business: owner.business)
        func put(_ number: Int, _ size: Int) async throws {
            let part = MultipartPart(
                number: number, file: UUID().uuidString, size: size, md5: String(repeating: "a", count: 32),
                createdAt: start)
            _ = try await store.audio.putPart(part, of: "up", bucket: "b", key: "k", business: owner.business)
        }
        let before = try await stored()
        try await put(1, 4000)
        try await put(1, 5000)
        #expect(try await stored() == before + 5000, "one in the place of another")
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await put(2, 2000) }
        try await put(2, 1000)
        #expect(try await stored() == before + 6000)
        _ = try await store.audio.abort("up", bucket: "b", key: "k", business: owner.business)
        #expect(try await stored() == before)
        try await store.database.write(.none) { try $0.run("DELETE FROM conversations") }
        #expect(try await stored() < 10)
        #expect(try await stored("b-2") == 0)
    }

    @Test("a completed multipart upload counts once towards the storage quota")
    func completed() async throws {
        try await store.audio.begin(
            MultipartUpload(id: "up", bucket: "b", key: "k", createdAt: start),
            business: owner.business)
        let part = MultipartPart(
            number: 1, file: "one", size: 9000, md5: String(repeating: "a", count: 32), createdAt: start)
        _ = try await store.audio.putPart(part, of: "up", bucket: "b", key: "k", business: owner.business)
        let object = StoredObject(
            bucket: "b", key: "k", file: "two", size: 9000, eTag: "\(String(repeating: "a", count: 32))-1",
            createdAt: start)
        #expect(try await store.audio.complete("up", as: object, business: owner.business)?.partFiles == ["one"])
        #expect(try await stored() == 9000)
    }

    @Test("an upload counts towards the storage quota while it is received, by its announced or actual size")
    func arriving() async throws {
        let objects = ObjectFiles(
            folder: folder.path, durability: .normal, identifiers: .counting(), pool: .singleton)
        let arriving = ArrivingBytes(store.audio)
        func receive(_ size: Int = 0, _ body: (inout NewObject) async throws -> Void) async throws {
            let file = try await arriving.begin(of: owner.business, expecting: size)
            try await objects.withNewObject(arriving: file, body)
        }
        try await receive { other in
            try await receive(6000) { announced in
                await #expect(throws: ScribeError.storageQuotaExceeded) { try await receive(4001) { _ in } }
                _ = try await arriving.begin(of: .init("b-2"), expecting: 10_000)
                try await other.write(ByteBuffer(repeating: 0, count: 4000))
                await #expect(throws: ScribeError.storageQuotaExceeded) {
                    try await other.write(ByteBuffer(repeating: 0, count: 1))
                }
                try await announced.write(ByteBuffer(repeating: 0, count: 6000))
                await #expect(throws: ScribeError.storageQuotaExceeded) {
                    try await announced.write(ByteBuffer(repeating: 0, count: 1))
                }
            }
            try await other.write(ByteBuffer(repeating: 0, count: 5000))
        }
    }

    @Test("an upload that replaces an object may use that object's share of the quota")
    func replacing() async throws {
        let object = StoredObject(
            bucket: "b", key: "k", file: "one", size: 9000, eTag: String(repeating: "a", count: 32), createdAt: start)
        _ = try await store.audio.put(object, business: owner.business)
        let arriving = ArrivingBytes(store.audio)
        #expect(try await arriving.begin(of: owner.business, expecting: 10_000, at: ("b", "k")) != nil)
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            _ = try await arriving.begin(of: owner.business, expecting: 10_001, at: ("b", "k"))
        }
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            _ = try await arriving.begin(of: owner.business, expecting: 1001, at: ("b", "other"))
        }
    }
}
