import Basics
import Foundation
import GRDB
import NIOCore
import NIOPosix
import ObjectStorage
import ScribeDomain
import TestSupport
import Testing

@testable import DataFolder
@testable import ScribeStore

struct BackupTests {
    private let parent: TemporaryFolder
    private var file: String { "\(parent.path)/backup" }

    init() throws { parent = try TemporaryFolder() }

    /// Makes a folder with one upload. No server has it afterwards.
    /// - Returns: the name of the upload's file.
    private func makeData(in path: String) async throws -> String {
        let folder = try DataFolder(path: path)
        let store = try Store(at: .file(folder.databasePath, .normal))
        let file = try await Self.upload(to: store, folder.state)
        try store.close()
        folder.release()
        return file
    }

    /// Stores an object.
    /// - Returns: the name of its file.
    private static func upload(to store: Store, _ state: StateFolder) async throws -> String {
        let objects = ObjectFiles(
            folder: state.objects, durability: .normal, identifiers: .counting(), pool: .singleton)
        return try await objects.withNewObject { file in
            try await file.write(ByteBuffer(string: "speech"))
            _ = try await file.finish()
            file.isKept = true
            let object = StoredObject(
                bucket: "b", key: "k", file: file.name, size: 6, eTag: String(repeating: "a", count: 32),
                createdAt: Date(timeIntervalSince1970: 1_778_404_353))
            _ = try await store.audio.put(object, business: .init("b-1"))
            return file.name
        }
    }

    /// Restores the backup into a new folder, and requires the upload in it.
    private func requireRestored(_ upload: String, secrets: [String] = []) async throws {
        let path = "\(parent.path)/restored"
        let empty = try DataFolder(path: path, mustBeEmpty: true)
        #expect(try Backup.restore(file, into: empty, secrets: secrets).objects == 1)
        empty.release()
        let folder = try DataFolder(path: path)
        #expect(folder.databasePath == "\(path)/states/2/scribe.sqlite")
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(path)/states/2")
        #expect(!names.contains { $0.contains("key") })
        let store = try Store(at: .file(folder.databasePath, .normal))
        #expect(try await store.audio.object(business: .init("b-1"), bucket: "b", key: "k")?.file == upload)
        #expect(FileManager.default.fileExists(atPath: "\(folder.objectsFolder)/\(upload.suffix(2))/\(upload)"))
        try store.close()
    }

    @Test(
        "a backup is taken during another process's write, without that write and without a delay of it")
    func duringAWrite() async throws {
        let folder = "\(parent.path)/data"
        let upload = try await makeData(in: folder)
        let other = try DatabaseQueue(path: DataFolder.Layout(path: folder).firstState.database)
        try await other.writeWithoutTransaction { [file] db in
            try db.execute(sql: "BEGIN IMMEDIATE; DELETE FROM objects")
            let summary = try Backup.write(folder: folder, to: file, name: "one", secrets: [])
            #expect(summary.objects == 1)
            try db.execute(sql: "COMMIT")
        }
        try await requireRestored(upload)
    }

    @Test("a backup of a killed server's folder has the commits that are in the log alone, and the signing key")
    func killed() async throws {
        let running = try DataFolder(path: "\(parent.path)/running")
        _ = try running.keptSecret(named: DataFolder.signingKey) { [1, 2, 3] }
        let store = try Store(at: .file(running.databasePath, .normal))
        let upload = try await Self.upload(to: store, running.state)
        let killed = "\(parent.path)/killed"
        // Copied while it is open: a store that is closed copies its log into the database.
        try FileManager.default.copyItem(atPath: running.path, toPath: killed)
        try store.close()
        running.release()
        let log = "\(DataFolder.Layout(path: killed).firstState.database)-wal"
        try #require(FileSystem.size(ofFile: log) ?? 0 > 0)
        #expect(try Backup.write(folder: killed, to: file, name: "one", secrets: []).objects == 1)
        try await requireRestored(upload)
        #expect(FileManager.default.contents(atPath: "\(parent.path)/restored/signing-key") == Data([1, 2, 3]))
    }

    @Test("a backup of a folder without data, or without the state that it names, is refused")
    func nothing() throws {
        for folder in ["\(parent.path)/nowhere", parent.path] {
            let problem = #expect(throws: Backup.Problem.self) {
                try Backup.write(folder: folder, to: file, name: "one", secrets: [])
            }
            #expect(problem?.description == "there is no scribe-emulator data in \(folder)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(parent.path)/nowhere"))
        let folder = try DataFolder(path: "\(parent.path)/data")
        try Data("7".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/current"))
        #expect(throws: DataFolder.Problem.self) {
            try Backup.write(folder: folder.path, to: file, name: "one", secrets: [])
        }
    }

    @Test("a folder whose first start was killed before its tables existed holds no data")
    func emptyDatabase() throws {
        let layout = DataFolder.Layout(path: "\(parent.path)/data")
        try FileManager.default.createDirectory(atPath: layout.firstState.objects, withIntermediateDirectories: true)
        for hasPage in [false, true] {
            let database = try DatabaseQueue(path: layout.firstState.database)
            // As a start sets it before the tables.
            if hasPage { try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") } }
            try database.close()
            #expect(FileSystem.size(ofFile: layout.firstState.database) == (hasPage ? 4096 : 0))
            let problem = #expect(throws: Backup.Problem.self) {
                try Backup.write(folder: layout.path, to: file, name: "one", secrets: [])
            }
            #expect(problem?.description == "there is no scribe-emulator data in \(layout.path)")
            #expect(!FileManager.default.fileExists(atPath: layout.staging("one")))
        }
    }

    @Test("a backup of an only state whose name is lost has all of its data")
    func lostName() async throws {
        let path = "\(parent.path)/data"
        let upload = try await makeData(in: path)
        try FileManager.default.removeItem(atPath: DataFolder.Layout(path: path).current)
        #expect(try Backup.write(folder: path, to: file, name: "one", secrets: []).objects == 1)
        try await requireRestored(upload)
    }

    @Test("a backup names the file that it cannot read or replace, and leaves nothing behind")
    func refused() async throws {
        let folder = "\(parent.path)/data"
        let upload = try await makeData(in: folder)
        let layout = DataFolder.Layout(path: folder)
        let fifo = "\(parent.path)/fifo"
        try #require(mkfifo(fifo, 0o600) == 0)
        let device = #expect(throws: Backup.Problem.self) {
            try Backup.write(folder: folder, to: fifo, name: "one", secrets: [])
        }
        #expect(device?.description == "\(fifo) is a device or a pipe; name a file")
        // Root could read any file.
        try FileManager.default.createDirectory(atPath: "\(folder)/key.pem", withIntermediateDirectories: true)
        let key = #expect(throws: Backup.Problem.self) {
            try Backup.write(folder: folder, to: file, name: "one", secrets: ["key.pem"])
        }
        #expect(key?.description.hasPrefix("\(folder)/key.pem cannot be read") == true)
        let place = "\(layout.firstState.objects)/\(upload.suffix(2))/\(upload)"
        try FileManager.default.removeItem(atPath: place)
        let missing = #expect(throws: Backup.Problem.self) {
            try Backup.write(folder: folder, to: file, name: "one", secrets: [])
        }
        #expect(missing?.description.hasPrefix("\(place) is missing") == true)
        try FileManager.default.removeItem(atPath: layout.current)
        try FileManager.default.createDirectory(atPath: layout.state("2").path, withIntermediateDirectories: true)
        let unnamed = #expect(throws: DataFolder.Problem.self) {
            try Backup.write(folder: folder, to: file, name: "one", secrets: [])
        }
        #expect(unnamed?.description.contains("write the name of the valid one into it") == true)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { !$0.hasPrefix(".") })
    }

    @Test("a backup holds the families' keys and no other keys")
    func secrets() async throws {
        let folder = "\(parent.path)/data"
        let upload = try await makeData(in: folder)
        for name in ["signing-key", "admin-token", "key-of-a-family.pem", "another.pem"] {
            try Data(name.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        let secrets = ["key-of-a-family.pem", "key-that-is-missing.pem"]
        _ = try Backup.write(folder: folder, to: file, name: "one", secrets: secrets)
        try await requireRestored(upload, secrets: secrets)
        let restored = "\(parent.path)/restored"
        for name in ["signing-key", "key-of-a-family.pem"] {
            #expect(FileManager.default.contents(atPath: "\(restored)/\(name)") == Data(name.utf8))
            let mode = try FileManager.default.attributesOfItem(atPath: "\(restored)/\(name)")[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        for name in ["admin-token", "another.pem"] {
            #expect(!FileManager.default.fileExists(atPath: "\(restored)/\(name)"))
        }
    }

    @Test("a backup is restored only into a folder without data")
    func notEmpty() async throws {
        let path = "\(parent.path)/data"
        let upload = try await makeData(in: path)
        _ = try Backup.write(folder: path, to: file, name: "one", secrets: [])
        let folder = try DataFolder(path: path)
        #expect(throws: DataFolder.Problem.holdsData(path: path)) {
            try Backup.restore(file, into: folder, secrets: [])
        }
        #expect(FileManager.default.fileExists(atPath: "\(folder.objectsFolder)/\(upload.suffix(2))/\(upload)"))
    }

    /// Whether a backup has its temporary folder, and has locked it.
    private func isAtWork(_ folder: String) -> Bool {
        FileSystem.isFolder(folder) && (try? FolderLock(folder, LOCK_EX | LOCK_NB)) == nil
    }

    @Test("a state stays while a backup reads it, also after a server has begun another state")
    func held() async throws {
        let path = "\(parent.path)/data"
        let upload = try await makeData(in: path)
        let layout = DataFolder.Layout(path: path)
        // Holds up the backup before it links uploads.
        let uploads = try FolderLock(layout.firstState.objects, LOCK_SH)
        let isOver = LockedValue(false)
        let backup = Task { [file] in
            defer { isOver.withLock { $0 = true } }
            return try await NIOThreadPool.singleton.runIfActive {
                try Backup.write(folder: path, to: file, name: "one", secrets: [])
            }
        }
        while !isOver.withLock({ $0 }), !isAtWork(layout.staging("one")) { await Task.yield() }
        let next = layout.state("2")
        try FileManager.default.createDirectory(atPath: next.objects, withIntermediateDirectories: true)
        try SQLiteDatabase.makeSchema(in: next.database)
        try layout.setCurrent("2")
        let server = try DataFolder(path: path)
        #expect(server.databasePath == next.database)
        server.removeOtherStates()
        #expect(layout.stateNames() == ["1", "2"])
        uploads.release()
        #expect(try await backup.value.objects == 1)
        server.removeOtherStates()
        #expect(layout.stateNames() == ["2"])
        try await requireRestored(upload)
    }
}
