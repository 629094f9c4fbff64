import Engines
import Foundation
import NIOCore
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct UploadsTests {
    /// Thrown to refuse the replacement of an object.
    private struct Stays: Error {}

    private let fixture: UseCaseFixture
    private var uploads: Uploads { fixture.uploads }
    private var owner: Principal { fixture.owner }

    init() throws { fixture = try UseCaseFixture() }

    private func stored(_ key: String) async throws -> StoredObject? {
        try await fixture.store.object(business: owner.business, bucket: "bucket", key: key)
    }

    private func session() async throws -> (key: Transaction.Key, location: AudioLocation) {
        try await fixture.startSession("s")
    }

    // MARK: Keeping

    @Test("an upload replaces the object of the same key and removes its file")
    func replacing() async throws {
        let first = fixture.object("k", try await fixture.write(Data("first".utf8)))
        try await uploads.keep(first, for: owner)
        let second = fixture.object("k", try await fixture.write(Data("second".utf8)), eTag: "b")
        try await uploads.keep(second, for: owner) { eTag in
            guard eTag == first.eTag else { throw Stays() }
        }
        #expect(try await stored("k") == second)
        #expect(try fixture.files().map { ($0 as NSString).lastPathComponent } == [second.file])
    }

    @Test("an upload that may not replace an existing object is refused, and its file is removed")
    func staying() async throws {
        let first = fixture.object("k", try await fixture.write())
        try await uploads.keep(first, for: owner)
        let second = fixture.object("k", try await fixture.write(), eTag: "b")
        await #expect(throws: Stays.self) {
            try await uploads.keep(second, for: owner) { eTag in if eTag != nil { throw Stays() } }
        }
        #expect(try await stored("k") == first)
        #expect(try fixture.files().count == 1)
        #expect(fixture.uploaded.keys.withLock { $0 } == ["k"], "watchers are told of what is kept")
    }

    @Test("one of several concurrent uploads to a key is kept, with its file")
    func parallel() async throws {
        let outcome = await atOnce {
            let object = fixture.object("k", try await fixture.write())
            try await uploads.keep(object, for: owner)
            return object
        }
        let object = try #require(try await stored("k"))
        #expect(outcome.values.contains(object))
        #expect(try fixture.files().map { ($0 as NSString).lastPathComponent } == [object.file])
    }

    @Test("an ended, completed or expired protocol session refuses uploads, and their files are removed")
    func closedSession() async throws {
        let (key, location) = try await session()
        try await fixture.endSession(key)
        await #expect(throws: ScribeError.sessionEnded) { try await fixture.upload("1.wav", to: location) }
        try await fixture.finish(key)
        await #expect(throws: ScribeError.sessionCompleted) { try await fixture.upload("1.wav", to: location) }
        let old = try await fixture.startSession("old")
        fixture.manual.advance(by: .seconds(TestSessionPolicy.time))
        await #expect(throws: ScribeError.sessionExpired) {
            try await fixture.upload("1.wav", to: old.location)
        }
        #expect(try fixture.files().isEmpty)
        #expect(fixture.uploaded.keys.withLock { $0 }.isEmpty)
    }

    @Test("only a protocol session's chunk replaces other files with the same number")
    func chunkNumbers() async throws {
        let (_, location) = try await session()
        try await fixture.upload("1.wav", to: location)
        try await fixture.upload("1.mp3", to: location)
        #expect(try fixture.files().count == 2)
        try await fixture.upload("1.webm", to: location, isChunk: true)
        #expect(try fixture.files().count == 1)
        try await fixture.start()
        for name in ["1.wav", "1.mp3"] { try await fixture.upload(name, isChunk: true) }
        #expect(try fixture.files().count == 3)
    }

    @Test("an upload that a fixture refuses is not stored")
    func refused() async throws {
        try await fixture.start(refusing: .upload)
        await #expect(throws: ScribeError.refusedOnPurpose) { try await fixture.upload("1.wav") }
        #expect(try await stored(fixture.location().key(ofFile: "1.wav")) == nil)
        #expect(try fixture.files().isEmpty)
    }

    @Test(
        "a transcribed chunk that comes after the commit is removed, and one that its uploader refuses stays")
    func heardChunk() async throws {
        try await fixture.start()
        let place = fixture.location().key(ofFile: "1.wav")
        let object = fixture.object(place, try await fixture.write())
        await #expect(throws: Stays.self) {
            try await uploads.keep(object, heard: nil, in: fixture.key(), for: owner) { _ in throw Stays() }
        }
        #expect(try fixture.files().count == 1)
        try await fixture.transactions.commit(fixture.key(), ChunkList(files: []))
        let ended = ScribeError.invalidState("The transaction takes no more audio")
        await #expect(throws: ended) {
            try await uploads.keep(object, heard: nil, in: fixture.key(), for: owner) { _ in }
        }
        #expect(try fixture.files().isEmpty)
        #expect(try await stored(place) == nil)
    }

    // MARK: Room

    @Test("received bytes count towards the storage quota until they are kept or discarded")
    func storage() async throws {
        var quotas = Quotas()
        quotas.storedBytes = 1000
        let fixture = try UseCaseFixture(quotas: quotas)
        func announce(_ size: Int, at place: (bucket: String, key: String)? = nil) async throws {
            let begun = try await fixture.uploads.begin(for: fixture.owner.business, expecting: size, at: place)
            await begun.writer.discard()
        }
        try await fixture.upload("1.wav", Data(count: 600))
        try await announce(400)
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await announce(401) }
        try await announce(1000, at: ("bucket", fixture.location().key(ofFile: "1.wav")))
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await fixture.upload("2.wav", Data(count: 401)) }
        try await fixture.upload("2.wav", Data(count: 400))
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await announce(1) }
        let elsewhere = try await fixture.uploads.begin(for: fixture.stranger.business, expecting: 1000)
        await elsewhere.writer.discard()
    }

    @Test("a full disk refuses uploads and allows deletions")
    func noRoom() async throws {
        let fixture = try UseCaseFixture(hasRoom: false)
        let cause = "what is left is kept for deletions"
        await #expect(throws: ScribeError.storageUnavailable(cause: cause)) { _ = try await fixture.write() }
        let name = fixture.objects.freshName()
        var writer = fixture.objects.create(name)
        try await writer.write(ByteBuffer(string: "x"))
        _ = try await writer.finish()
        _ = try await fixture.store.put(fixture.object("k", (name, 1)), business: fixture.owner.business)
        try await fixture.uploads.delete(bucket: "bucket", key: "k", of: fixture.owner.business)
        #expect(try fixture.files().isEmpty)
    }

    @Test("an object's deletion affects its own business only, and succeeds without an object")
    func deletion() async throws {
        try await uploads.keep(fixture.object("k", try await fixture.write()), for: owner)
        try await uploads.delete(bucket: "bucket", key: "k", of: fixture.stranger.business)
        #expect(try fixture.files().count == 1)
        for _ in 0..<2 { try await uploads.delete(bucket: "bucket", key: "k", of: owner.business) }
        #expect(try fixture.files().isEmpty)
    }

    // MARK: In parts

    private func begin() async throws {
        let upload = MultipartUpload(
            id: "up", bucket: "bucket", key: "k", contentType: nil, metadata: [:], createdAt: fixture.manual.now)
        try await fixture.store.begin(upload, business: owner.business)
    }

    private func part(_ number: Int, _ text: String) async throws -> MultipartPart {
        let written = try await fixture.write(Data(text.utf8))
        return MultipartPart(
            number: number, file: written.file, size: written.size, md5: String(repeating: "a", count: 32),
            createdAt: fixture.manual.now)
    }

    private func keep(_ part: MultipartPart, of id: String = "up", for principal: Principal? = nil) async throws -> Bool
    {
        try await uploads.keep(part, of: id, bucket: "bucket", key: "k", for: principal ?? owner)
    }

    @Test("a part of a multipart upload replaces the part with its number, and a foreign upload's is refused")
    func parts() async throws {
        try await begin()
        #expect(try await keep(part(1, "one")))
        #expect(try await keep(part(1, "uno")))
        #expect(try await !keep(part(2, "two"), of: "unknown"))
        #expect(try await !keep(part(2, "two"), for: fixture.stranger))
        #expect(try fixture.files().count == 1)
    }

    @Test("a multipart upload joins its parts in the requested order and is completed once")
    func completion() async throws {
        try await begin()
        let parts = try await [part(2, "second"), part(1, "first ")]
        for part in parts { #expect(try await keep(part)) }
        let joined = try #require(try await uploads.join(parts.reversed()))
        let object = fixture.object("k", joined)
        #expect(try await uploads.complete("up", as: object, for: owner) { _ in })
        #expect(try fixture.files().count == 1)
        let bytes = try await uploads.bytes(of: object, upTo: 100)
        #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == "first second")
        let again = fixture.object("k", try await fixture.write())
        #expect(try await !uploads.complete("up", as: again, for: owner) { _ in })
        #expect(try fixture.files().count == 1)
        #expect(try await stored("k") == object)
        #expect(fixture.uploaded.keys.withLock { $0 } == ["k"])
    }

    @Test("a multipart upload with a missing part cannot be joined, and an aborted one leaves no file")
    func abortion() async throws {
        try await begin()
        let part = try await part(1, "one")
        #expect(try await keep(part))
        let gone = MultipartPart(number: 2, file: "gone", size: 1, md5: part.md5, createdAt: part.createdAt)
        #expect(try await uploads.join([part, gone]) == nil)
        #expect(try fixture.files().count == 1)
        let other = fixture.stranger.business
        #expect(try await !uploads.abort("up", bucket: "bucket", key: "k", of: other))
        #expect(try await uploads.abort("up", bucket: "bucket", key: "k", of: owner.business))
        #expect(try await !uploads.abort("up", bucket: "bucket", key: "k", of: owner.business))
        #expect(try fixture.files().isEmpty)
    }

    @Test("an object's bytes are read as a whole, unless they are too many or the file is missing")
    func bytes() async throws {
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        let object = fixture.object("k", try await fixture.write(content))
        #expect(try await uploads.bytes(of: object, upTo: content.count) == Array(content))
        #expect(try await uploads.bytes(of: object, upTo: content.count - 1) == nil)
        await uploads.remove([object.file])
        #expect(try await uploads.bytes(of: object, upTo: content.count) == nil)
    }
}
