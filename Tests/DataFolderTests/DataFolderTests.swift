import Basics
import Crypto
import Foundation
import GRDB
import NIOCore
import NIOPosix
import ObjectStorage
import TestSupport
import Testing

@testable import DataFolder
@testable import ScribeStore

struct DataFolderTests {
    @Test("a data folder is used by one server at a time")
    func lock() throws {
        let parent = try TemporaryFolder()
        var first: DataFolder? = try DataFolder(path: "\(parent.path)/data")
        #expect(throws: DataFolder.Problem.self) { try DataFolder(path: "\(parent.path)/data") }
        #expect(first != nil)
        first = nil
        _ = try DataFolder(path: "\(parent.path)/data")
    }

    @Test("a secret of the data folder is created once, and only its owner can read it")
    func secret() throws {
        let parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/data")
        #expect(try folder.keptSecret(named: "key") { [1, 2, 3] } == [1, 2, 3])
        #expect(try folder.keptSecret(named: "key") { [9] } == [1, 2, 3])
        let mode = try FileManager.default.attributesOfItem(atPath: "\(parent.path)/data/key")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let folderMode = try FileManager.default.attributesOfItem(atPath: "\(parent.path)/data")[.posixPermissions]
        #expect(folderMode as? Int == 0o700)
    }

    @Test("a data folder that cannot be created is refused with the reason")
    func unusable() throws {
        let parent = try TemporaryFolder()
        let file = try parent.write(Data(), as: "file")
        #expect(throws: DataFolder.Problem.self) { try DataFolder(path: "\(file)/data") }
    }

    @Test("a file in the place of the data folder, or in its path, is refused with its path")
    func file() throws {
        let parent = try TemporaryFolder()
        let file = try parent.write(Data(), as: "file")
        let place = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: file) }
        #expect(place == .isFile(path: file))
        let path = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: "\(file)/data") }
        #expect(path?.description.contains("a part of its path is a file") == true)
    }

    @Test("a data folder is created with its parent folders")
    func parents() throws {
        let parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/a/b/data")
        #expect(FileManager.default.fileExists(atPath: folder.workFolder))
    }

    @Test("a start removes the temporary files that servers name, except those of a running backup")
    func temporaryFolders() throws {
        let parent = try TemporaryFolder()
        let path = "\(parent.path)/data"
        let id = "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9"
        try DataFolder(path: path).release()
        for name in ["work/\(id)", "work/worlds", ".backup-\(id)", ".backup-1", "work/mine", ".backup-mine"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: "\(path)/\(name)/file"))
        }
        try Data().write(to: URL(fileURLWithPath: path).appending(path: "work/\(id).sqlite"))
        let backup = try FolderLock("\(path)/.backup-1", LOCK_EX)
        func left() throws -> [String] {
            let work = try FileManager.default.contentsOfDirectory(atPath: "\(path)/work").map { "work/\($0)" }
            let hidden = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix(".") }
            return (work + hidden).sorted()
        }
        let folder = try DataFolder(path: path)
        #expect(try left() == [".backup-1", ".backup-mine", "work/mine"])
        #expect(FileManager.default.fileExists(atPath: "\(path)/.backup-1/file"))
        folder.release()
        backup.release()
        let next = try DataFolder(path: path)
        #expect(try left() == [".backup-mine", "work/mine"])
        next.release()
    }

    @Test(
        "a key that others can read is refused with the command that helps",
        arguments: [DataFolder.signingKey, DataFolder.adminToken, "key-of-a-family.pem"], [0o644, 0o604])
    func openKey(name: String, mode: Int) throws {
        let parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/data")
        #expect(try folder.requirePrivateKeys(and: ["key-of-a-family.pem"]).isEmpty)
        _ = try folder.keptSecret(named: name) { [1] }
        #expect(try folder.requirePrivateKeys(and: ["key-of-a-family.pem"]).isEmpty)
        let file = "\(folder.path)/\(name)"
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        let problem = #expect(throws: DataFolder.Problem.self) {
            try folder.requirePrivateKeys(and: ["key-of-a-family.pem"])
        }
        #expect(problem == .readableByOthers(file: file))
        #expect(problem?.description.contains("chmod 600 '\(file)'") == true)
    }

    @Test("a key that its group can read is reported, and a linked key is judged by its target")
    func keyOfGroup() throws {
        let parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/data")
        let mounted = try parent.write(Data([1]), as: "mounted")
        let file = "\(folder.path)/\(DataFolder.signingKey)"
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: mounted)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: mounted)
        #expect(try folder.requirePrivateKeys(and: ["key-of-a-family.pem"]).isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: mounted)
        #expect(try folder.requirePrivateKeys(and: ["key-of-a-family.pem"]) == [file])
    }

    @Test("a start without the signing key is refused if the database has valid refresh tokens")
    func missingKey() throws {
        let parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/data")
        let now = Date(timeIntervalSince1970: 1_000)
        try folder.requireSigningKey(at: now)
        let store = try Store(at: .file(folder.databasePath, .normal))
        try store.close()
        try folder.requireSigningKey(at: now)
        let database = try DatabaseQueue(path: folder.databasePath)
        try database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO clients (client_id, business_id, user_id, doctor_id, name, workspace, secret_hash)
                    VALUES ('c', 'b', 'u', 'd', 'n', 'w', zeroblob(32));
                    INSERT INTO refresh_tokens (token_hash, client_id, expires_at) VALUES (zeroblob(32), 'c', 2000000);
                    """)
        }
        try database.close()
        let problem = #expect(throws: DataFolder.Problem.self) { try folder.requireSigningKey(at: now) }
        #expect(problem == .missingSigningKey(file: "\(folder.path)/signing-key"))
        #expect(problem?.description.contains("--new-signing-key") == true)
        try folder.requireSigningKey(at: Date(timeIntervalSince1970: 3_000))
        _ = try folder.keptSecret(named: DataFolder.signingKey) { [1] }
        try folder.requireSigningKey(at: now)
    }

    @Test("a damaged database and another program's database are refused with different errors")
    func otherDatabases() throws {
        let parent = try TemporaryFolder()
        let damaged = try parent.write(Data(repeating: 7, count: 8192), as: "damaged")
        let noDatabase = #expect(throws: Store.Problem.self) { try Store(at: .file(damaged, .normal)) }
        #expect(noDatabase == .damaged(path: damaged))
        let foreign = "\(parent.path)/foreign"
        let database = try DatabaseQueue(path: foreign)
        try database.write { try $0.execute(sql: "CREATE TABLE transactions (x)") }
        try database.close()
        let another = #expect(throws: Store.Problem.self) { try Store(at: .file(foreign, .normal)) }
        #expect(another == .foreign(path: foreign))
    }
}
