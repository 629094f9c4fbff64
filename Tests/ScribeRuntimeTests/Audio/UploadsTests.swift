import Basics
import Engines
import Foundation
import NIOCore
import ObjectStorage
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
        try await fixture.store.audio.object(business: owner.business, bucket: "bucket", key: key)
    }

    private func session() async throws -> (key: Transaction.Key, location: AudioLocation) {
        try await fixture.startSession("s")
    }

    // MARK: Keeping

    @Test("an upload replaces the object of the same key and removes its file")
    func replacing() async throws {
        let first = try await fixture.keep("k", Data("first".utf8))
        let second = try await fixture.keep("k", Data("second".utf8), eTag: "b") { eTag in
            guard eTag == first.eTag else { throw Stays() }
        }
        #expect(try await stored("k") == second)
        #expect(try fixture.files().map { ($0 as NSString).lastPathComponent } == [second.file])
    }

    @Test("an upload that may not replace an existing object is refused, and its file is removed")
    func staying() async throws {
        let first = try await fixture.keep("k")
        await #expect(throws: Stays.self) {
            try await fixture.keep("k", eTag: "b") { eTag in if eTag != nil { throw Stays() } }
        }
        #expect(try await stored("k") == first)
        #expect(try fixture.files().count == 1)
        #expect(fixture.uploaded.keys.withLock { $0 } == ["k"], "watchers are told of what is kept")
    }

    @Test("one of several concurrent uploads to a key is kept, with its file")
    func parallel() async throws {
        let outcome = await atOnce { try await fixture.keep("k") }
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
        fixture.manual.advance(by: .seconds(TestSessionPolicy.time.length))
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

    /// Keeps a transcribed chunk, as the object of a key.
    private func hear(
        _ file: inout NewObject, _ written: (file: String, size: Int), as key: String,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void = { _ in }
    ) async throws {
        try await uploads.keep(
            &file, as: fixture.object(key, written), heard: nil, in: fixture.key(), for: owner,
            replacing: permitReplacing)
    }

    @Test("a transcribed chunk whose name is taken is kept under another, and removed if it comes after the commit")
    func heardChunk() async throws {
        try await fixture.start()
        let places = ["1.wav", "2.wav"].map { fixture.location().key(ofFile: $0) }
        try await fixture.write { file, written in
            await #expect(throws: Stays.self) { try await hear(&file, written, as: places[0]) { _ in throw Stays() } }
            try await hear(&file, written, as: places[1])
        }
        let kept = try #require(try await stored(places[1]))
        #expect(try fixture.files().map { ($0 as NSString).lastPathComponent } == [kept.file])
        try await fixture.transactions.commit(fixture.key(), ChunkList(files: []))
        let ended = ScribeError.invalidState("The transaction takes no more audio")
        await #expect(throws: ended) {
            try await fixture.write { file, written in try await hear(&file, written, as: places[0]) }
        }
        #expect(try fixture.files().count == 1)
        #expect(try await stored(places[0]) == nil)
    }

    /// How a way in may end without keeping its file.
    enum Ending: CaseIterable {
        case early, half, whole, failed, refused, unknown, cancelled
    }

    @Test("the end of a way in removes the file that it has not kept", arguments: Ending.allCases)
    func unkept(ending: Ending) async throws {
        let task = Task {
            try await uploads.receive(for: owner.business) { file in
                if ending == .early { return }
                // More than a batch, so that the disk has some of it.
                try await file.write(ByteBuffer(repeating: 0, count: 300_000))
                if ending == .half { throw Stays() }
                let size = try await file.finish().size
                let written = (file.name, size)
                switch ending {
                case .early, .half, .whole: return
                case .failed: throw Stays()
                case .cancelled:
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await uploads.keep(&file, as: fixture.object("k", written), for: owner)
                case .refused:
                    try await uploads.keep(&file, as: fixture.object("k", written), for: owner) { _ in throw Stays() }
                case .unknown:
                    let part = MultipartPart(
                        number: 1, file: file.name, size: size, md5: String(repeating: "a", count: 32),
                        createdAt: fixture.manual.now)
                    _ = try await uploads.keep(&file, as: part, of: "unknown", bucket: "bucket", key: "k", for: owner)
                }
            }
        }
        _ = await task.result
        let row = try await stored("k")
        #expect(ending == .cancelled || row == nil)
        #expect(try fixture.files().isEmpty == (row == nil))
    }

    // MARK: Room

    @Test("received bytes count towards the storage quota until they are kept or discarded")
    func storage() async throws {
        var quotas = Quotas()
        quotas.storedBytes = 1000
        let fixture = try UseCaseFixture(quotas: quotas)
        func announce(_ size: Int, at place: (bucket: String, key: String)? = nil) async throws {
            try await fixture.uploads.receive(for: fixture.owner.business, expecting: size, at: place) { _ in }
        }
        try await fixture.upload("1.wav", Data(count: 600))
        try await announce(400)
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await announce(401) }
        try await announce(1000, at: ("bucket", fixture.location().key(ofFile: "1.wav")))
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await fixture.upload("2.wav", Data(count: 401)) }
        try await fixture.upload("2.wav", Data(count: 400))
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await announce(1) }
        try await fixture.uploads.receive(for: fixture.stranger.business, expecting: 1000) { _ in }
    }

    @Test("a full disk refuses uploads and allows deletions")
    func noRoom() async throws {
        let fixture = try UseCaseFixture(hasRoom: false)
        let cause = "what is left is kept for deletions"
        await #expect(throws: ScribeError.storageUnavailable(cause: cause)) { try await fixture.upload("1.wav") }
        try await fixture.objects.withNewObject { file in
            try await file.write(ByteBuffer(string: "x"))
            _ = try await file.finish()
            file.isKept = true
            _ = try await fixture.store.audio.put(fixture.object("k", (file.name, 1)), business: fixture.owner.business)
        }
        try await fixture.uploads.delete(bucket: "bucket", keys: ["k"], of: fixture.owner.business)
        #expect(try fixture.files().isEmpty)
    }

    @Test("an object's deletion affects its own business only, and succeeds without an object")
    func deletion() async throws {
        _ = try await fixture.keep("k")
        try await uploads.delete(bucket: "bucket", keys: ["k"], of: fixture.stranger.business)
        #expect(try fixture.files().count == 1)
        for _ in 0..<2 { try await uploads.delete(bucket: "bucket", keys: ["k"], of: owner.business) }
        #expect(try fixture.files().isEmpty)
    }

    // MARK: In parts

    private func begin() async throws {
        let upload = MultipartUpload(
            id: "up", bucket: "bucket", key: "k", createdAt: fixture.manual.now)
        try await fixture.store.audio.begin(upload, business: owner.business)
    }

    /// Keeps a part.
    /// - Returns: nil if there is no such upload.
    private func keep(
        _ number: Int, _ text: String, of id: String = "up", for principal: Principal? = nil
    ) async throws -> MultipartPart? {
        try await fixture.write(Data(text.utf8)) { file, written in
            let part = MultipartPart(
                number: number, file: written.file, size: written.size, md5: String(repeating: "a", count: 32),
                createdAt: fixture.manual.now)
            let isKept = try await uploads.keep(
                &file, as: part, of: id, bucket: "bucket", key: "k", for: principal ?? owner)
            return isKept ? part : nil
        }
    }

    private func complete(joining parts: [MultipartPart]) async throws -> StoredObject? {
        let size = parts.reduce(0) { $0 + $1.size }
        return try await uploads.complete(
            "up", joining: parts, checksums: [], as: { file, _ in fixture.object("k", (file, size)) }, for: owner
        ) { _ in }
    }

    @Test("a part of a multipart upload replaces the part with its number, and a foreign upload's is refused")
    func parts() async throws {
        try await begin()
        #expect(try await keep(1, "one") != nil)
        #expect(try await keep(1, "uno") != nil)
        #expect(try await keep(2, "two", of: "unknown") == nil)
        #expect(try await keep(2, "two", for: fixture.stranger) == nil)
        #expect(try fixture.files().count == 1)
    }

    @Test("a multipart upload joins its parts in the requested order and is completed once")
    func completion() async throws {
        try await begin()
        let second = try #require(try await keep(2, "second"))
        let first = try #require(try await keep(1, "first "))
        let object = try #require(try await complete(joining: [first, second]))
        #expect(try fixture.files().count == 1)
        let bytes = try await uploads.bytes(of: object, upTo: 100)
        #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == "first second")
        #expect(try await complete(joining: []) == nil, "the upload is gone")
        #expect(try fixture.files().count == 1)
        #expect(try await stored("k") == object)
        #expect(fixture.uploaded.keys.withLock { $0 } == ["k"])
    }

    @Test("a multipart upload with a missing part cannot be joined, and an aborted one leaves no file")
    func abortion() async throws {
        try await begin()
        let part = try #require(try await keep(1, "one"))
        let gone = MultipartPart(number: 2, file: "gone", size: 1, md5: part.md5, createdAt: part.createdAt)
        #expect(try await complete(joining: [part, gone]) == nil)
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
        let object = try await fixture.keep("k", content)
        #expect(try await uploads.bytes(of: object, upTo: content.count) == Array(content))
        #expect(try await uploads.bytes(of: object, upTo: content.count - 1) == nil)
        await uploads.remove([object.file])
        #expect(try await uploads.bytes(of: object, upTo: content.count) == nil)
    }
}
