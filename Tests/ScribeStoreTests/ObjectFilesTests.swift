import Crypto
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ScribeStore

struct ObjectFilesTests {
    let folder: TemporaryFolder
    let files: ObjectFiles

    init() throws {
        folder = try TemporaryFolder()
        files = ObjectFiles(folder: folder.path, durability: .full, pool: .singleton)
    }

    @Test("what is written in pieces is the file, with its size and digests")
    func writing() async throws {
        var writer = files.create("abcdef", checksums: Set(ChecksumAlgorithm.allCases))
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
        #expect(try await files.all() == ["abcdef"])
    }

    @Test("a discarded upload leaves no file, before and after its end")
    func discarding() async throws {
        var first = files.create("first")
        try await first.write(ByteBuffer(string: "x"))
        await first.discard()
        var second = files.create("second")
        _ = try await second.finish()
        await second.discard()
        #expect(try await files.all() == [])
    }
}
