import Foundation
import GRDB
import NIOCore
import NIOPosix
import ObjectStorage
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// The file of a snapshot: what it holds, and what is refused while it is read.
struct SnapshotTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func newFolder() throws -> SnapshotFolder {
        let snapshot = SnapshotFolder(path: "\(folder.path)/\(UUID().uuidString)")
        try snapshot.make()
        return snapshot
    }

    /// A snapshot of a store with a consultation, as one file.
    private func archive() async throws -> [UInt8] {
        let fixture = try StoreFixture(onSQLite: true)
        try await fixture.initialise("t")
        let objects = ObjectFiles(
            folder: folder.path, durability: .normal, identifiers: .counting(), pool: .singleton, isBackedUp: false)
        let snapshot = try newFolder()
        _ = try await fixture.store.save(
            in: snapshot, objects, owner: nil, WorldIdentifiers(.counting()), at: Date(timeIntervalSince1970: 0),
            on: .singleton)
        var pieces = try SnapshotArchive(snapshot, on: .singleton).pieces()
        var bytes: [UInt8] = []
        while let piece = try await pieces.next() { bytes += Array(piece.readableBytesView) }
        #expect(try SnapshotArchive(snapshot, on: .singleton).size == bytes.count)
        return bytes
    }

    /// Reads a file in pieces of a size.
    private func read(_ bytes: [UInt8], pieces: Int, limit: Int? = nil) async throws -> SnapshotFolder {
        let snapshot = try newFolder()
        var reader = SnapshotImport(into: snapshot, limit: limit, on: .singleton)
        var rest = bytes[...]
        while !rest.isEmpty {
            try await reader.take(ByteBuffer(bytes: rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
        }
        try await reader.finish()
        return snapshot
    }

    @Test("the files of a snapshot are for their owner only")
    func permissions() async throws {
        let snapshot = try await read(archive(), pieces: 1 << 16)
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let place = "\(folder.path)/\(path)"
            let mode = try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions] as? Int ?? 0
            #expect(mode & 0o077 == 0, "\(path): \(String(mode, radix: 8))")
        }
        #expect(FileManager.default.fileExists(atPath: snapshot.databasePath))
    }

    @Test("a manifest of more files than a snapshot may have is refused before the files arrive")
    func files() throws {
        let files = [SnapshotFile](repeating: SnapshotFile(name: "abc", size: 0, eTag: ""), count: 50_001)
        let manifest = SnapshotManifest(
            createdAt: Date(timeIntervalSince1970: 0), owner: nil, files: files, digests: [:],
            identifiers: WorldIdentifiers(.counting()).counts)
        #expect(throws: SnapshotProblem.tooManyFiles(limit: 50_000)) { try SnapshotManifest(json: manifest.json()) }
    }

    @Test("a snapshot holds each table of the schema, or leaves it out for a stated reason")
    func tables() throws {
        let queue = try DatabaseQueue()
        try SQLiteSchema.prepare(queue)
        let tables = try queue.read {
            try String.fetchSet(
                $0, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        }
        #expect(Set(SnapshotTables.held + SnapshotTables.left) == tables)
        #expect(SnapshotTables.held.count + SnapshotTables.left.count == tables.count)
    }

    @Test("a snapshot is read in pieces of any size", arguments: [1 << 20, 4096, 513, 512, 511, 100])
    func pieces(size: Int) async throws {
        let snapshot = try await read(try await archive(), pieces: size)
        let rows = try await DatabaseQueue(path: snapshot.databasePath).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM transactions")
        }
        #expect(rows == 1)
    }

    @Test("changed bytes in a snapshot are refused or change nothing, and never end the process", arguments: 0..<200)
    func changed(seed: Int) async throws {
        var bytes = try await archive()
        var random = Steps(state: UInt64(seed))
        // Half of the changes are in the headers, which are few bytes of the file.
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<(seed % 2 == 0 ? 1600 : bytes.count), using: &random)
            bytes[place] = UInt8.random(in: 0...255, using: &random)
        }
        do {
            _ = try await read(bytes, pieces: 4096)
        } catch is SnapshotProblem {
            // Refused.
        }
    }

    @Test(
        "a snapshot whose schema has values of other types is refused",
        arguments: ["sql = NULL", "sql = x'00ff'", "name = x'ff'", "type = NULL", "tbl_name = 1.5", "rootpage = 'a'"])
    func foreignSchema(change: String) async throws {
        let snapshot = try await read(try await archive(), pieces: 1 << 20)
        let queue = try DatabaseQueue(path: snapshot.databasePath)
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET \(change) WHERE name = 'transactions'")
        }
        try queue.close()
        #expect(throws: SnapshotProblem.self) { try snapshot.check() }
    }

    @Test("a snapshot whose manifest counts other files is refused", arguments: ["bytes", "objects"])
    func foreignCounts(name: String) async throws {
        let snapshot = try await read(try await archive(), pieces: 1 << 20)
        for count in [Int.max, .min, -1, 1] {
            let file = URL(fileURLWithPath: snapshot.manifestPath)
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            try Data(
                text.replacingOccurrences(
                    of: "\"\(name)\":-?[0-9]+", with: "\"\(name)\":\(count)", options: .regularExpression
                ).utf8
            ).write(to: file)
            #expect(throws: SnapshotProblem.self) { try snapshot.check() }
        }
    }

    @Test(
        "an archive entry's size is written in octal, and a large one in base 256",
        arguments: [0, 1, 511, 1 << 33 - 1, 1 << 33, 1 << 50])
    func sizes(size: Int) throws {
        let entry = TarEntry(name: "objects/abc", size: size)
        #expect(entry.header.count == TarEntry.headerSize)
        #expect(try TarEntry(header: entry.header[...]) == entry)
        #expect((size + entry.padding) % TarEntry.headerSize == 0)
    }

    @Test(
        "an archive entry with an extreme size is refused without overflow",
        arguments: [Int.max, Int.max - 600, 1 << 62])
    func hugeSizes(size: Int) async throws {
        var bytes = try await archive()
        let header = TarEntry(name: "manifest.json", size: size).header
        bytes.replaceSubrange(0..<header.count, with: header)
        await #expect(throws: SnapshotProblem.self) { try await read(bytes, pieces: 4096) }
    }

    @Test(
        "an object's name in a snapshot cannot lead out of the snapshot's folder",
        arguments: ["..", "a", "..x", ".ab", "a.b", "abc.", "abc.d", "ab/c", "ab\\c", "é23", ""])
    func badNames(name: String) { #expect(!ObjectFiles.isName(name)) }

    @Test("the name of an object's file is accepted in a snapshot")
    func goodNames() {
        let files = ObjectFiles(
            folder: folder.path, durability: .normal, identifiers: .counting(), pool: .singleton, isBackedUp: false)
        #expect(ObjectFiles.isName(files.freshName()))
    }
}

/// Numbers that are the same each time (SplitMix64).
private struct Steps: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
