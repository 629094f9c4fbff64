import Foundation
import GRDB
import Glibc
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// The move of an earlier version's data folder into the layout with states.
struct OlderFolderTests {
    private static let steps = 0...DataFolder.Layout(path: "").steps.count

    @Test("the first start moves an earlier version's folder, including commits in its write-ahead log")
    func move() async throws {
        let older = try await OlderFolder()
        try older.keepEarlierVersionsOut()
        try await older.requireWhole()
        try await older.requireWhole()
    }

    @Test(
        "the next start continues a move of an earlier version's folder that was killed at any step", arguments: steps,
        [false, true])
    func killed(steps: Int, movesLog: Bool) async throws {
        let older = try await OlderFolder()
        if movesLog { try older.keepEarlierVersionsOut() }
        for step in older.layout.steps.prefix(steps) { try step() }
        try await older.requireWhole()
    }

    @Test("an earlier version on a partly moved folder ends with an error or finds all its data", arguments: steps)
    func earlierVersion(steps: Int) async throws {
        let older = try await OlderFolder()
        for step in older.layout.steps.prefix(steps) { try step() }
        #expect(older.isSafeFromEarlierVersion())
        try await older.requireWhole()
        #expect(older.isSafeFromEarlierVersion())
        try await older.requireWhole()
    }

    @Test("each step of the move of an earlier version's folder can be repeated")
    func again() async throws {
        let older = try await OlderFolder()
        for step in older.layout.steps {
            try step()
            try step()
        }
        try await older.requireWhole()
    }

    @Test("the move leaves another program's database, and a damaged one, in its place")
    func notMoved() throws {
        let parent = try TemporaryFolder()
        let foreign = DataFolder.Layout(path: "\(parent.path)/foreign").old
        try FileManager.default.createDirectory(atPath: foreign.path, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: foreign.database)
        try queue.write { try $0.execute(sql: "CREATE TABLE transactions (x)") }
        try queue.close()
        let damaged = DataFolder.Layout(path: "\(parent.path)/damaged").old
        try FileManager.default.createDirectory(atPath: damaged.path, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: damaged.database))
        let expectations: [(StateFolder, Store.Problem)] = [
            (foreign, .foreign(path: foreign.database)), (damaged, .damaged(path: damaged.database)),
        ]
        for (old, expected) in expectations {
            let problem = #expect(throws: Store.Problem.self) { try DataFolder(path: old.path) }
            #expect(problem == expected)
            #expect(old.hasDatabase)
            #expect(!FileManager.default.fileExists(atPath: "\(old.path)/states"))
        }
    }

    @Test("symbolic links of an earlier version's folder have the same target after the move")
    func links() async throws {
        let older = try await OlderFolder()
        let (old, elsewhere) = (older.old, "\(older.path)/../elsewhere")
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
        // SQLite has the log beside the file that a link leads to.
        let database = try DatabaseQueue(path: old.database)
        try await database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try database.close()
        for name in ["objects", "scribe.sqlite"] {
            try FileManager.default.moveItem(atPath: "\(old.path)/\(name)", toPath: "\(elsewhere)/\(name)")
            try FileManager.default.createSymbolicLink(
                atPath: "\(old.path)/\(name)", withDestinationPath: "../elsewhere/\(name)")
        }
        try await older.requireWhole()
        #expect(StateFolder(path: elsewhere).hasDatabase)
    }

    @Test("the move of an earlier version's folder waits for a backup that reads it, not for one that archives")
    func besideBackups() async throws {
        let older = try await OlderFolder()
        let staging = older.layout.staging("one")
        try FileManager.default.createDirectory(atPath: staging, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: "\(staging)/file"))
        let archiving = try FolderLock(staging, LOCK_EX)
        let reading = LockedValue<FolderLock?>(try FolderLock(older.path, LOCK_SH))
        let notes = LockedValue<[String]>([])
        let old = older.old
        let opening = DataFolder.Opening { line in
            notes.withLock { $0.append(line) }
            // Of a start that waits nothing is moved yet.
            #expect(old.hasDatabase == reading.withLock { $0 != nil })
            reading.withLock {
                $0?.release()
                $0 = nil
            }
        }
        try DataFolder(path: older.path, opening).release()
        #expect(notes.withLock { $0.count } == 2)
        #expect(notes.withLock { $0.first }?.contains("waits for the backup") == true)
        #expect(notes.withLock { $0.last }?.contains("was of an earlier version") == true)
        #expect(FileManager.default.fileExists(atPath: "\(staging)/file"))
        archiving.release()
        try await older.requireWhole()
        #expect(!FileManager.default.fileExists(atPath: staging))
    }

    @Test("a key that ends the start ends it before an earlier version's folder is moved")
    func keys() async throws {
        let older = try await OlderFolder()
        let file = "\(older.path)/key-of-a-family.pem"
        try Data("key".utf8).write(to: URL(fileURLWithPath: file))
        for name in [DataFolder.signingKey, "key-of-a-family.pem"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: "\(older.path)/\(name)")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: file)
        let opening = DataFolder.Opening(secrets: ["key-of-a-family.pem"])
        #expect(throws: DataFolder.Problem.readableByOthers(file: file)) {
            try DataFolder(path: older.path, opening)
        }
        #expect(!FileManager.default.fileExists(atPath: older.layout.states))
        #expect(older.isSafeFromEarlierVersion() && older.old.hasDatabase)
        try FileManager.default.removeItem(atPath: file)
        try DataFolder(path: older.path, opening).release()
        try await older.requireWhole()
    }

    @Test("a stray file among the states does not stop the move, and a file in the place of work does")
    func files() async throws {
        let older = try await OlderFolder()
        try FileManager.default.createDirectory(atPath: older.layout.states, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: "\(older.layout.states)/README"))
        try FileManager.default.removeItem(atPath: older.layout.work)
        try Data("a file".utf8).write(to: URL(fileURLWithPath: older.layout.work))
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: older.path) }
        #expect(problem == .unusable(path: older.layout.work, reason: "it is a file, and a folder is expected"))
        #expect(older.old.hasDatabase)
        try FileManager.default.removeItem(atPath: older.layout.work)
        try await older.requireWhole()
    }

    @Test("uploads in the old and the new place end the start, and an earlier version can still run")
    func doubled() async throws {
        let older = try await OlderFolder()
        try FileManager.default.createDirectory(
            atPath: "\(older.layout.firstState.objects)/ab", withIntermediateDirectories: true)
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: older.path) }
        #expect(problem == .doubled(older.old.objects, older.layout.firstState.objects))
        #expect(!older.layout.isBeingMoved)
        #expect(older.isSafeFromEarlierVersion())
        try FileManager.default.removeItem(atPath: older.layout.states)
        try await older.requireWhole()
    }

    @Test("databases in the old and the new place end the start")
    func doubledDatabase() async throws {
        let older = try await OlderFolder()
        try FileManager.default.createDirectory(
            atPath: older.layout.firstState.path, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: older.old.database, toPath: older.layout.firstState.database)
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: older.path) }
        #expect(problem == .doubled(older.old.database, older.layout.firstState.database))
    }

    @Test("a start that requires an empty folder does not move an earlier version's data")
    func mustBeEmpty() async throws {
        let older = try await OlderFolder()
        let problem = #expect(throws: DataFolder.Problem.self) {
            try DataFolder(path: older.path, mustBeEmpty: true)
        }
        #expect(problem == .holdsData(path: older.path))
        #expect(!FileManager.default.fileExists(atPath: older.layout.states))
        try await older.requireWhole()
        #expect(throws: DataFolder.Problem.holdsData(path: older.path)) {
            try DataFolder(path: older.path, mustBeEmpty: true)
        }
    }
}
