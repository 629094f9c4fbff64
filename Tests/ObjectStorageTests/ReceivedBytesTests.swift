import Basics
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ObjectStorage

struct ReceivedBytesTests {
    private let folder: TemporaryFolder
    private let room = ReceivedBytes.Room()

    init() throws { folder = try TemporaryFolder() }

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

    @Test("uploads that are sent from memory have as many bytes as the room at most")
    func sending() async throws {
        let received = try #require(files().received)
        #expect(received.beginSending(ReceivedBytes.Room.capacity - 3))
        let files = files(1)
        var writer = FileObjectWriter("ab-1", checksums: [], files: files, received: files.received)
        try await writer.write(ByteBuffer(string: "Dolo"))
        #expect(await writer.finishInMemory() == nil, "so it is written to a file")
        received.endSending(1)
        #expect(await writer.finishInMemory() != nil)
        #expect(!received.beginSending(1))
    }

    private func isKept(_ name: String, in received: ReceivedBytes) -> Bool { received.bytes(of: name) != nil }

    @Test("stores share the room: new bytes take the place of the oldest, and a store that ends leaves its own")
    func sharedRoom() {
        let bytes = ByteBuffer(repeating: 0, count: ReceivedBytes.largest)
        let most = ReceivedBytes.Room.capacity / (ReceivedBytes.largest + ReceivedBytes.entrySize)
        let first = ReceivedBytes(in: room)
        var second: ReceivedBytes? = ReceivedBytes(in: room)
        for number in 0..<most { first.keep("\(number)", bytes) }
        first.drop(["1"])
        second?.keep("0", bytes)
        #expect((0..<most).filter { isKept("\($0)", in: first) } == [0] + (2..<most))
        for number in 1...3 { second?.keep("\(number)", bytes) }
        #expect((0..<most).filter { isKept("\($0)", in: first) } == Array(4..<most))
        #expect((0...3).allSatisfy { second?.bytes(of: "\($0)") == bytes })

        second = nil
        for number in 0..<4 { first.keep("new \(number)", bytes) }
        #expect(isKept("4", in: first))
        first.keep("last", bytes)
        #expect(!isKept("4", in: first))
    }

    @Test("bytes that are kept again under one name count once")
    func again() {
        let received = ReceivedBytes(in: room)
        received.keep("other", ByteBuffer(string: "x"))
        for byte in 0..<200 {
            received.keep("name", ByteBuffer(repeating: UInt8(byte), count: ReceivedBytes.largest))
        }
        #expect(received.bytes(of: "name") == ByteBuffer(repeating: 199, count: ReceivedBytes.largest))
        #expect(isKept("other", in: received))
    }

    @Test("many tiny uploads count for what an entry takes")
    func tiny() {
        let received = ReceivedBytes(in: room)
        let count = ReceivedBytes.Room.capacity / ReceivedBytes.entrySize
        for number in 0..<count { received.keep("\(number)", ByteBuffer(string: "x")) }
        #expect(!isKept("0", in: received))
        #expect(isKept("\(count - 1)", in: received))
    }
}
