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

struct ChecksumTests {
    @Test(
        "the published check values of \"123456789\"",
        arguments: [
            (ChecksumAlgorithm.crc32, "cbf43926"), (.crc32c, "e3069283"), (.crc64nvme, "ae8b14860a799888"),
            (.sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
        ]
    )
    func checkValues(algorithm: ChecksumAlgorithm, hex: String) {
        // In one piece and in two, so that the eight-byte steps and the rest are both taken.
        for cut in 0...9 {
            let text = Array("123456789".utf8)
            var checksum = RunningChecksum(algorithm)
            text[..<cut].withUnsafeBytes { checksum.update($0) }
            text[cut...].withUnsafeBytes { checksum.update($0) }
            #expect(checksum.finalize().map { String(format: "%02x", $0) }.joined() == hex)
        }
    }
}

struct DataFolderTests {
    @Test("a folder is used by one server at a time")
    func lock() throws {
        let parent = try TemporaryFolder()
        var first: DataFolder? = try DataFolder(path: "\(parent.path)/data")
        #expect(throws: DataFolder.Problem.self) { try DataFolder(path: "\(parent.path)/data") }
        #expect(first != nil)
        first = nil
        _ = try DataFolder(path: "\(parent.path)/data")
    }

    @Test("a secret is made once, and nobody else can read it")
    func secret() throws {
        let parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/data")
        #expect(try folder.secret(named: "key") { [1, 2, 3] } == [1, 2, 3])
        #expect(try folder.secret(named: "key") { [9] } == [1, 2, 3])
        let mode = try FileManager.default.attributesOfItem(atPath: "\(parent.path)/data/key")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let folderMode = try FileManager.default.attributesOfItem(atPath: "\(parent.path)/data")[.posixPermissions]
        #expect(folderMode as? Int == 0o700)
    }

    @Test("a folder that cannot be made is refused with the reason")
    func unusable() throws {
        let parent = try TemporaryFolder()
        let file = try parent.write(Data(), as: "file")
        #expect(throws: DataFolder.Problem.self) { try DataFolder(path: "\(file)/data") }
    }
}
