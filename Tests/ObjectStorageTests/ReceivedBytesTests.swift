import Basics
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ObjectStorage

struct ReceivedBytesTests {
    private let folder: TemporaryFolder
    private let manual = ManualClock()
    private let room: ReceivedBytes.Room

    init() throws {
        folder = try TemporaryFolder()
        room = ReceivedBytes.Room(clock: manual.clock)
    }

    private func files(_ number: UInt64 = 0) -> ObjectFiles {
        ObjectFiles(
            folder: folder.path, durability: .normal, identifiers: .counting(after: number), pool: .singleton,
            isBackedUp: false, room: room)
    }

    private func upload(_ sizes: Int..., to files: ObjectFiles) async throws -> String {
        try await files.withNewObject { file in
            for (number, size) in sizes.enumerated() {
                try await file.write(ByteBuffer(repeating: UInt8(number), count: size))
            }
            _ = try await file.finish()
            file.isKept = true
            return file.name
        }
    }

    @Test("a small upload is in its file and in memory, as one piece, until it is recognised or removed")
    func kept() async throws {
        let files = files()
        let received = try #require(files.received)
        let name = try await upload(3, 2, to: files)
        #expect(received.bytes(of: name) == ByteBuffer(bytes: [0, 0, 0, 1, 1]))
        #expect(FileManager.default.contents(atPath: files.path(of: name)) == Data([0, 0, 0, 1, 1]))
        received.drop([name, "another"])
        #expect(received.bytes(of: name) == nil)
        let next = try await upload(1, to: files)
        await files.remove([next])
        #expect(received.bytes(of: next) == nil)
    }

    @Test("an upload that is refused, empty or large is not in memory")
    func notKept() async throws {
        let files = files()
        let refused = try await files.withNewObject { file in
            try await file.write(ByteBuffer(string: "x"))
            _ = try await file.finish()
            return file.name
        }
        for name in [
            refused, try await upload(to: files), try await upload(ReceivedBytes.largest + 1, to: files),
            try await upload(ReceivedBytes.largest, 1, to: files),
        ] {
            #expect(files.received?.bytes(of: name) == nil)
        }
        let largest = try await upload(ReceivedBytes.largest, to: files)
        #expect(files.received?.bytes(of: largest)?.readableBytes == ReceivedBytes.largest)
    }

    @Test("a small upload that needs no file has its digests, and no file")
    func withoutFile() async throws {
        let files = files()
        var writer = FileObjectWriter("ab-1", checksums: [.sha256], files: files, received: files.received)
        try await writer.write(ByteBuffer(string: "Dolo"))
        try await writer.write(ByteBuffer(string: " 650"))
        let (written, bytes) = try #require(await writer.finishInMemory())
        #expect(bytes == ByteBuffer(string: "Dolo 650"))
        var other = FileObjectWriter("ab-2", checksums: [.sha256], files: files, received: nil)
        try await other.write(bytes)
        #expect(await other.finishInMemory() == nil)
        let expected = try await other.finish()
        #expect(written.size == 8)
        #expect(written.md5 == expected.md5)
        #expect(written.checksums == expected.checksums)
        #expect(!FileManager.default.fileExists(atPath: files.path(of: "ab-1")))
        await writer.discard()
        #expect(files.received?.bytes(of: "ab-1") == nil)
    }

    @Test("stores share the room; old bytes make room for new ones, and so does the end of a store")
    func sharedRoom() {
        let bytes = ByteBuffer(repeating: 0, count: ReceivedBytes.largest)
        let first = ReceivedBytes(in: room)
        var second: ReceivedBytes? = ReceivedBytes(in: room)
        var count = 0
        while first.keep("\(count)", bytes) {
            count += 1
            manual.advance(by: .seconds(1))
        }
        #expect(count == ReceivedBytes.Room.capacity / (ReceivedBytes.largest + ReceivedBytes.entrySize))
        #expect(second?.keep("a", bytes) == false)

        manual.advance(by: .seconds(600))
        #expect(first.keep("new", bytes))
        #expect((0..<count).allSatisfy { first.bytes(of: "\($0)") == nil })
        for number in 1..<count { #expect(second?.keep("\(number)", bytes) == true) }
        #expect(!first.keep("more", bytes))
        second = nil
        #expect(first.keep("more", bytes))
    }

    @Test("many tiny uploads count for what an entry takes")
    func tiny() async throws {
        let files = files()
        let count = ReceivedBytes.Room.capacity / ReceivedBytes.entrySize
        for number in 0..<count { _ = files.received?.keep("\(number)", ByteBuffer(string: "x")) }
        #expect(files.received?.bytes(of: "0") != nil)
        #expect(files.received?.bytes(of: "\(count - 1)") == nil)
    }
}
