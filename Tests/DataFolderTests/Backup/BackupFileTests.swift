import Basics
import Foundation
import ObjectStorage
import TestSupport
import Testing

@testable import DataFolder
@testable import ScribeStore

/// Where a backup may be written to, and what is left when one or its restoring ends early.
struct BackupFileTests {
    private let parent: TemporaryFolder
    private var folder: String { "\(parent.path)/data" }
    private var file: String { "\(parent.path)/backup" }
    private var restored: DataFolder.Layout { DataFolder.Layout(path: "\(parent.path)/restored") }

    init() throws {
        parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/data")
        let store = try Store(at: .file(folder.databasePath, .normal))
        try store.requireSQLite().writeBlocking {
            try $0.run("INSERT INTO generations (name, value) VALUES ('kept', 7)", [])
        }
        try store.close()
        _ = try folder.keptSecret(named: DataFolder.signingKey) { [1, 2, 3] }
        folder.release()
    }

    private func backUp(to file: String) throws {
        _ = try Backup.write(folder: folder, to: file, name: "one", secrets: [])
    }

    private func restore(_ file: String) throws {
        let folder = try DataFolder(path: restored.path, mustBeEmpty: true)
        defer { folder.release() }
        _ = try Backup.restore(file, into: folder, secrets: [])
    }

    private func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }

    @Test(
        "a backup is not written into the data folder, also through a link",
        arguments: ["current", "lock", "signing-key", "states/1/scribe.sqlite", "work/new", "new"], ["data", "link"])
    func inDataFolder(name: String, place: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(parent.path)/link", withDestinationPath: folder)
        let before = FileManager.default.contents(atPath: "\(folder)/\(name)")
        let file = "\(parent.path)/\(place)/\(name)"
        let problem = #expect(throws: Backup.Problem.self) { try backUp(to: file) }
        #expect(problem?.description == "\(file) is in the data folder; name a file in another folder")
        #expect(FileManager.default.contents(atPath: "\(folder)/\(name)") == before)
        try DataFolder(path: folder).release()
    }

    @Test("a backup does not replace a symbolic link", arguments: ["data/signing-key", "nowhere"])
    func link(target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "\(parent.path)/\(target)")
        let problem = #expect(throws: Backup.Problem.self) { try backUp(to: file) }
        #expect(problem?.description == "\(file) is a link; name the file that it leads to")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file) == "\(parent.path)/\(target)")
    }

    @Test("a backup replaces an earlier one, and no other file", arguments: ["", ".partial"])
    func otherFile(ending: String) throws {
        try backUp(to: file)
        try backUp(to: file)
        let place = file + ending
        try write("somebody's", to: place)
        let problem = #expect(throws: Backup.Problem.self) { try backUp(to: file) }
        #expect(problem?.description == "\(place) exists and is no backup, so it stays; name another file")
        #expect(FileManager.default.contents(atPath: place) == Data("somebody's".utf8))
    }

    @Test("a restore keeps a key that an operator has put into the folder, beside the backup's key")
    func operatorsKey() throws {
        try backUp(to: file)
        try FileManager.default.createDirectory(atPath: restored.path, withIntermediateDirectories: true)
        let key = "\(restored.path)/\(DataFolder.signingKey)"
        try write("an operator's", to: key)
        let folder = try DataFolder(path: restored.path, tolerating: [DataFolder.signingKey], mustBeEmpty: true)
        _ = try Backup.restore(file, into: folder, secrets: [])
        #expect(FileManager.default.contents(atPath: key) == Data([1, 2, 3]))
        #expect(FileManager.default.contents(atPath: "\(key).before-restore") == Data("an operator's".utf8))
    }

    @Test("a backup's file name may have a colon")
    func colon() throws {
        let file = "\(parent.path)/2026-11-25T10:00"
        try backUp(to: file)
        try restore(file)
        #expect(try restored.holdsData())
    }

    @Test("two backups cannot write one file at once, and a backup replaces a killed backup's partial file")
    func partial() throws {
        let left = "scribe.sqlite\0 and what else a killed backup has left"
        try write(left, to: "\(file).partial")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(file).partial")
        let other = open("\(file).partial", O_WRONLY | O_CLOEXEC)
        try #require(other >= 0 && flock(other, LOCK_EX | LOCK_NB) == 0)
        let problem = #expect(throws: Backup.Problem.self) { try backUp(to: file) }
        #expect(
            problem?.description == "another backup is writing \(file); name another file, or try again later")
        #expect(FileManager.default.contents(atPath: "\(file).partial") == Data(left.utf8))
        #expect(flock(other, LOCK_UN) == 0 && close(other) == 0)
        try backUp(to: file)
        #expect(!FileManager.default.fileExists(atPath: "\(file).partial"))
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try restore(file)
    }

    @Test("a truncated backup and a file that is no backup are refused with different messages")
    func truncated() throws {
        try backUp(to: file)
        let whole = try #require(FileManager.default.contents(atPath: file))
        // The database is more than half of it.
        try whole.prefix(whole.count / 2 + 1).write(to: URL(fileURLWithPath: "\(parent.path)/half"))
        try write("no archive", to: "\(parent.path)/other")
        let half = #expect(throws: Backup.Problem.self) { try restore("\(parent.path)/half") }
        #expect(half?.description == "the backup is damaged: \(parent.path)/half: its end is missing")
        let other = #expect(throws: Backup.Problem.self) { try restore("\(parent.path)/other") }
        #expect(other?.description == "\(parent.path)/other is no backup of scribe-emulator")
        #expect(restored.stateNames() == ["1"])
        #expect(try !restored.holdsData())
        #expect(!FileManager.default.fileExists(atPath: "\(restored.path)/signing-key"))
        try restore(file)
        #expect(try restored.holdsData())
        #expect(FileManager.default.contents(atPath: "\(restored.path)/signing-key") == Data([1, 2, 3]))
    }

    @Test("a backup with a symbolic link is refused, and the link's target is unchanged")
    func linkInBackup() throws {
        let outside = "\(parent.path)/outside"
        try FileManager.default.createDirectory(
            atPath: outside, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let content = "\(parent.path)/content"
        try FileManager.default.createDirectory(atPath: content, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: DataFolder.Layout(path: folder).firstState.database, toPath: "\(content)/scribe.sqlite")
        try FileManager.default.createSymbolicLink(atPath: "\(content)/objects", withDestinationPath: outside)
        let tar = try ChildProcess(
            ["tar", "--create", "--file", file, "--directory", content, "scribe.sqlite", "objects"],
            environment: ProcessInfo.processInfo.environment)
        #expect(tar.wait() == 0)
        let problem = #expect(throws: Backup.Problem.self) { try restore(file) }
        #expect(problem?.description == "\(file) is no backup of scribe-emulator")
        let mode = try FileManager.default.attributesOfItem(atPath: outside)[.posixPermissions]
        #expect(mode as? Int == 0o755)
        #expect(restored.stateNames() == ["1"])
    }

    @Test("the rest of a killed restore counts as no data, and the next start removes it")
    func killedRestore() throws {
        try backUp(to: file)
        try DataFolder(path: restored.path).release()
        let left = restored.state("2")
        try FileManager.default.createDirectory(atPath: left.objects, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: DataFolder.Layout(path: folder).firstState.database, toPath: left.database)
        #expect(try !restored.holdsData())
        try restore(file)
        #expect(try restored.currentName() == "3")
        let server = try DataFolder(path: restored.path)
        server.removeOtherStates()
        #expect(restored.stateNames() == ["3"])
        #expect(FileManager.default.fileExists(atPath: server.databasePath))
    }
}
