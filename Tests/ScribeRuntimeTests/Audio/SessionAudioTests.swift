import Basics
import Engines
import Foundation
import NIOCore
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct SessionAudioTests {
    /// Thrown by a listener that disconnects.
    private struct Gone: Error {}

    private let fixture: UseCaseFixture
    private var audio: SessionAudio { fixture.sessionAudio }
    private var key: Transaction.Key { fixture.key() }

    init() throws { fixture = try UseCaseFixture() }

    /// Commits a consultation with these files, of which the named ones have come.
    private func commit(_ files: [String], uploaded: [String: Data]) async throws {
        try await fixture.start()
        for (name, content) in uploaded { try await fixture.upload(name, content) }
        try await fixture.transactions.commit(key, ChunkList(files: files))
    }

    /// What is played, in bytes.
    private func played() async throws -> Int {
        let size = LockedValue(0)
        try await audio.encode(key) { piece in
            size.withLock { $0 += piece.readableBytes }
        }
        return size.withLock { $0 }
    }

    @Test("the combined audio of an unknown, deleted or foreign transaction is not found")
    func unknown() async throws {
        try await commit(["1.wav"], uploaded: ["1.wav": TestAudio.wav(seconds: 1)])
        for key in [fixture.key("unknown"), fixture.key(of: fixture.stranger)] {
            await #expect(throws: ScribeError.transactionNotFound) { try await audio.expiry(of: key) }
        }
        try await fixture.transactions.archive(key, by: fixture.owner.user)
        await #expect(throws: ScribeError.transactionNotFound) { try await audio.expiry(of: key) }
    }

    @Test("an open or cancelled transaction has no combined audio", .enabled(if: FFmpeg.isInstalled))
    func uncommitted() async throws {
        let absent = SessionAudio.Unavailable.notAvailable
        try await fixture.start()
        try await fixture.upload("1.wav")
        await #expect(throws: absent) { try await audio.expiry(of: key) }
        try await fixture.transactions.stop(key, ChunkList(files: ["1.wav"]))
        await #expect(throws: absent) { try await audio.expiry(of: key) }
        var patch = TransactionPatch()
        patch.isCancellation = true
        _ = try await fixture.transactions.patch(key, patch)
        await #expect(throws: absent) { try await audio.expiry(of: key) }
    }

    @Test("a transaction without chunks has no combined audio", .enabled(if: FFmpeg.isInstalled))
    func noFiles() async throws {
        try await commit(["full_audio.wav"], uploaded: ["full_audio.wav": TestAudio.wav(seconds: 1)])
        await #expect(throws: SessionAudio.Unavailable.notAvailable) { try await audio.expiry(of: key) }
    }

    @Test(
        "the combined audio of a transaction is available for a day after the commit",
        .enabled(if: FFmpeg.isInstalled))
    func expiry() async throws {
        try await commit(["1.wav"], uploaded: ["1.wav": TestAudio.wav(seconds: 1)])
        let end = fixture.manual.now.addingTimeInterval(SessionAudio.lifetime)
        fixture.manual.advance(by: .seconds(SessionAudio.lifetime - 1))
        #expect(try await audio.expiry(of: key) == end)
        #expect(try await played() > 0)
        fixture.manual.advance(by: .seconds(1))
        let absent = SessionAudio.Unavailable.notAvailable
        await #expect(throws: absent) { try await audio.expiry(of: key) }
        await #expect(throws: absent) { try await played() }
    }

    @Test(
        "combined audio leaves out files that cannot be decoded or have not arrived",
        .enabled(if: FFmpeg.isInstalled))
    func leftOut() async throws {
        let wav = TestAudio.wav(seconds: 2)
        try await commit(
            ["1.wav", "2.wav", "3.wav", "4.wav"],
            uploaded: ["1.wav": wav, "2.wav": Data("no audio".utf8), "4.wav": wav, "5.wav": wav])
        // Twice two seconds of 64 kbit/s.
        #expect((29_000...36_000).contains(try await played()))
    }

    @Test(
        "a listener that disconnects ends the encoding of combined audio and leaves no file",
        .enabled(if: FFmpeg.isInstalled))
    func gone() async throws {
        let wav = TestAudio.wav(seconds: 1)
        try await commit(["1.wav", "2.wav"], uploaded: ["1.wav": wav, "2.wav": wav])
        let pieces = LockedValue(0)
        await #expect(throws: Gone.self) {
            try await audio.encode(key) { _ in
                pieces.withLock { $0 += 1 }
                throw Gone()
            }
        }
        #expect(pieces.withLock { $0 } == 1)
        let left = try FileManager.default.contentsOfDirectory(atPath: "\(fixture.folder.path)/work")
        #expect(left.isEmpty, "what was made of it is removed")
    }
}
