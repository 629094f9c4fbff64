import Basics
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ObjectStorage

struct LocalCopiesTests {
    private let folder: TemporaryFolder
    private let spool: ObjectFiles
    private let copies: LocalCopies
    private let start = Date(timeIntervalSince1970: 1_778_404_353)

    init() throws {
        folder = try TemporaryFolder()
        spool = ObjectFiles(
            folder: folder.path, durability: .normal, identifiers: .counting(), pool: .singleton, isBackedUp: false)
        copies = LocalCopies(in: spool)
    }

    /// Writes a file, and keeps it as the copy of an object.
    private func keep(_ name: String, size: Int = 4, at time: Date? = nil) async throws -> String {
        let file = spool.freshName()
        var writer = spool.create(file, checksums: [], arriving: nil)
        try await writer.write(ByteBuffer(string: name))
        _ = try await writer.finish()
        await copies.keep(name, in: file, size: size, at: time ?? start)
        return spool.path(of: file)
    }

    private func text(_ name: String) async throws -> String? {
        try await copies.lend(name) { try String(contentsOfFile: $0, encoding: .utf8) }
    }

    @Test("a copy is read by its object's name, until the object goes")
    func kept() async throws {
        let path = try await keep("a")
        #expect(try await text("a") == "a")
        #expect(try await text("b") == nil)
        let reader = try #require(try await copies.open("a"))
        await copies.drop(["a", "b"])
        #expect(try await text("a") == nil)
        #expect(try await copies.open("a") == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await String(buffer: reader.read(0..<9)) == "a", "an open copy is read to its end")
    }

    @Test("a lent path stays until its last reader is done")
    func lent() async throws {
        let path = try await keep("a")
        let value = try await copies.lend("a") { lent in
            await copies.drop(["a"])
            #expect(try await text("a") == nil, "nobody else gets it")
            return try String(contentsOfFile: lent, encoding: .utf8)
        }
        #expect(value == "a")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a failing reader gives its copy back")
    func failing() async throws {
        struct Failure: Error {}
        let path = try await keep("a")
        await #expect(throws: Failure.self) { _ = try await copies.lend("a") { _ -> Int in throw Failure() } }
        await copies.drop(["a"])
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("old copies go after ten minutes, and the oldest for want of room")
    func bounded() async throws {
        let old = try await keep("old")
        _ = try await keep("young", at: start + 400)
        await copies.dropOldest(at: start + 601)
        #expect(try await text("old") == nil)
        #expect(try await text("young") == "young")
        #expect(!FileManager.default.fileExists(atPath: old))
        let large = (0...16).map { "large-\($0)" }
        for name in large { _ = try await keep(name, size: LocalCopies.largest, at: start + 500) }
        for name in ["young", large[0]] { #expect(try await text(name) == nil) }
        for name in large.dropFirst() { #expect(try await text(name) == name) }
    }

    @Test("a file that is too large, and a second copy, are removed")
    func refused() async throws {
        let large = try await keep("large", size: LocalCopies.largest + 1)
        #expect(try await text("large") == nil)
        let (first, second) = (try await keep("a"), try await keep("a"))
        #expect([large, first, second].map(FileManager.default.fileExists(atPath:)) == [false, true, false])
    }
}
