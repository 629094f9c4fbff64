import Basics
import Crypto
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ObjectStorage

struct ObjectFilesTests {
    let folder: TemporaryFolder
    let files: ObjectFiles

    init() throws {
        folder = try TemporaryFolder()
        files = ObjectFiles(
            folder: folder.path, durability: .full, identifiers: .counting(), pool: .singleton)
    }

    private func all() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.contains("/") }.sorted()
    }

    @Test("an object that is written in pieces is one file, with its size and digests")
    func writing() async throws {
        var writer = files.create("abcdef", checksums: Set(ChecksumAlgorithm.allCases), arriving: nil)
        var whole = Data()
        for number in 0..<40 {
            let piece = Data(repeating: UInt8(number), count: 10_000)
            whole += piece
            try await writer.write(ByteBuffer(bytes: piece))
        }
        let summary = try await writer.finish()
        #expect(summary.size == whole.count)
        #expect(summary.md5 == Insecure.MD5.hash(data: whole))
        #expect(summary.checksums[.sha256] == Array(SHA256.hash(data: whole)))
        #expect(summary.checksums[.sha1] == Array(Insecure.SHA1.hash(data: whole)))
        #expect(FileManager.default.contents(atPath: files.path(of: "abcdef")) == whole)
        #expect(try all() == ["ef/abcdef"])
    }

    @Test("a discarded upload leaves no file, before and after its end")
    func discarding() async throws {
        try await files.withNewObject { try await $0.write(ByteBuffer(string: "x")) }
        try await files.withNewObject { _ = try await $0.finish() }
        #expect(try all() == [])
    }

    @Test("names of objects follow one another, so that an index keeps them together, and no process makes another's")
    func names() {
        let names = (1...300).map { _ in files.freshName() }
        #expect(names == names.sorted() && Set(names).count == names.count)
        #expect(names.allSatisfy { ObjectFiles.isName($0) && ObjectNames.isMade($0) })
        #expect(Set(names.map(ObjectFiles.relativePath(of:)).map { $0.prefix(3) }).count == 256, "folders fill evenly")
        let others = [1, 2].map { ObjectNames(.counting(after: $0 * 1000)).next() }
        #expect(Set(([names[0]] + others).map { $0.prefix(17) }).count == 3)
        for name in ["", "README", "abstract.txt", "b871-6cb646e59238.0000001", "b871-6cb646e59238-00000001"] {
            #expect(!ObjectNames.isMade(name))
        }
    }

    private func begin(_ files: ObjectFiles) async throws -> String {
        try await files.withNewObject { file in
            try await file.write(ByteBuffer(string: "x"))
            _ = try await file.finish()
            file.isKept = true
            return file.name
        }
    }

    @Test("a sweep of uploads finds files from before this start, and no stray files")
    func sweep() async throws {
        let old = try await begin(files)
        for name in ["lost+found", "ME", "xt"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        }
        try Data().write(to: URL(fileURLWithPath: "\(folder.path)/stray"))
        try Data().write(to: URL(fileURLWithPath: "\(folder.path)/cd"))
        try Data().write(to: URL(fileURLWithPath: "\(folder.path)/ME/README"))
        try Data().write(to: URL(fileURLWithPath: "\(folder.path)/xt/abstract.txt"))
        let restarted = ObjectFiles(
            folder: folder.path, durability: .full, identifiers: .counting(after: 1000), pool: .singleton)
        let fresh = try await begin(restarted)
        let seen = LockedValue<[String]>([])
        try await restarted.leftFiles(before: nil) { files in seen.withLock { $0 += files } }
        #expect(seen.withLock { $0 } == [old])
        #expect(old != fresh)
    }

    @Test("no upload's file is removed while a backup links files, and all are removed after it")
    func heldBack() async throws {
        let names = try await [begin(files), begin(files)]
        let backup = open(folder.path, O_RDONLY)
        defer { close(backup) }
        #expect(flock(backup, LOCK_EX) == 0)
        await files.remove([names[0]])
        #expect(try all().count == 2)
        flock(backup, LOCK_UN)
        await files.remove([names[1]])
        #expect(try all() == [])
    }
}
