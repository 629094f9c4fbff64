import Basics
import Foundation
import ObjectStorage
import TestSupport
import Testing

@testable import DataFolder
@testable import ScribeStore

/// Which state of a data folder is opened, and which are removed.
struct DataFolderStatesTests {
    private let parent: TemporaryFolder
    private var path: String { "\(parent.path)/data" }
    private var layout: DataFolder.Layout { DataFolder.Layout(path: path) }

    init() throws { parent = try TemporaryFolder() }

    /// Makes a state with a file, and with a database without rows.
    private func makeState(_ name: String) throws {
        let state = layout.state(name)
        try FileManager.default.createDirectory(
            atPath: "\(state.objects)/ab", withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: "\(state.objects)/ab/abcdef"))
        try SQLiteDatabase.makeSchema(in: state.database)
    }

    private func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }

    @Test("a new data folder has one valid state, whose files only its owner can read")
    func fresh() throws {
        let folder = try DataFolder(path: path)
        #expect(folder.databasePath == "\(path)/states/1/scribe.sqlite")
        #expect(folder.objectsFolder == "\(path)/states/1/objects")
        #expect(try String(contentsOfFile: "\(path)/current", encoding: .utf8) == "1\n")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: path).sorted() == [
                "current", "lock", "states", "work",
            ])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.databasePath)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test(
        "a start opens the state that the file current names",
        arguments: ["2", "2\n", " a-B-9 ", String(repeating: "x", count: 64)])
    func named(text: String) throws {
        try DataFolder(path: path).release()
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        try makeState(name)
        try write(text, to: layout.current)
        let folder = try DataFolder(path: path)
        #expect(folder.databasePath == layout.state(name).database)
        #expect(FileManager.default.fileExists(atPath: "\(folder.objectsFolder)/ab/abcdef"))
        try layout.setCurrent("1")
        folder.release()
        #expect(try DataFolder(path: path).databasePath == layout.firstState.database)
    }

    @Test(
        "a start with an invalid state name in current ends with advice, and creates no state",
        arguments: ["", "\n", "7", "..", "a/b", "ä", "1 2", String(repeating: "x", count: 65)])
    func misnamed(text: String) throws {
        try DataFolder(path: path).release()
        try write(text, to: layout.current)
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: path) }
        #expect(problem?.description.contains("scribe-emulator restore --data-dir NEW-FOLDER") == true)
        #expect(problem?.description.contains("\(path)/current") == true)
        #expect(layout.stateNames() == ["1"])
        #expect(try String(contentsOfFile: layout.current, encoding: .utf8) == text)
    }

    @Test("a start does not create a new database for a state that lost its own")
    func missingDatabase() throws {
        let folder = try DataFolder(path: path)
        folder.release()
        try FileManager.default.removeItem(atPath: folder.databasePath)
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: path) }
        #expect(problem?.description.contains(folder.databasePath) == true)
        #expect(!FileManager.default.fileExists(atPath: folder.databasePath))
    }

    @Test(
        "a start finds an emptied database of the valid state damaged, and does not make its schema anew",
        arguments: [Data(), Data(count: 8192), Data(count: 1)])
    func emptied(content: Data) throws {
        let folder = try DataFolder(path: path)
        folder.release()
        try content.write(to: URL(fileURLWithPath: folder.databasePath))
        #expect(throws: Store.Problem.damaged(path: folder.databasePath)) { try DataFolder(path: path) }
        #expect(throws: Store.Problem.damaged(path: folder.databasePath)) {
            try Backup.write(folder: path, to: "\(parent.path)/backup", name: "1", secrets: [])
        }
        #expect(FileManager.default.contents(atPath: folder.databasePath) == content)
    }

    @Test("garbage in a database's pages is damage, and no SQL statement, for reads and for writes")
    func garbage() async throws {
        let folder = try DataFolder(path: path)
        let before = try SQLiteDatabase(path: folder.databasePath, durability: .normal, sink: nil)
        let pages = try before.readBlocking {
            try $0.rows("SELECT rootpage FROM sqlite_schema WHERE name IN ('clients', 'generations')").map {
                $0["rootpage"] as Int
            }
        }
        try before.close()
        #expect(pages.count == 2)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.databasePath))
        for page in pages {
            try file.seek(toOffset: UInt64(page - 1) * 4096)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        }
        try file.close()
        let damage = Store.Problem.damaged(path: folder.databasePath)
        let database = try SQLiteDatabase(path: folder.databasePath, durability: .normal, sink: nil)
        await #expect(throws: damage) { try await database.read { try $0.rows("SELECT * FROM clients") } }
        await #expect(throws: damage) {
            try await database.write(in: [.none]) { db, _ in
                try db.run("INSERT INTO generations (name, value) VALUES ('x', 7)", [])
            }
        }
        #expect(throws: damage) { try database.readBlocking { try $0.rows("SELECT * FROM clients") } }
    }

    @Test("a start without the file current ends with the names of the states, if there are several")
    func unnamed() throws {
        try DataFolder(path: path).release()
        try FileManager.default.removeItem(atPath: layout.current)
        try makeState("2")
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: path) }
        #expect(problem?.description.contains("holds 1, 2") == true)
        #expect(layout.stateNames() == ["1", "2"])
    }

    @Test("a start keeps invalid states until they are removed, and while a backup locks them")
    func others() throws {
        try DataFolder(path: path).release()
        for name in ["2", "3"] { try makeState(name) }
        try FileManager.default.createDirectory(
            atPath: "\(layout.states)/lost+found", withIntermediateDirectories: true)
        let folder = try DataFolder(path: path)
        #expect(layout.stateNames() == ["1", "2", "3"])
        let backup = try FolderLock(layout.state("3").path, LOCK_SH)
        folder.removeOtherStates()
        #expect(layout.stateNames() == ["1", "3"])
        #expect(folder.hasOtherStates)
        backup.release()
        folder.removeOtherStates()
        #expect(layout.stateNames() == ["1"])
        #expect(!folder.hasOtherStates)
        #expect(FileSystem.isFolder("\(layout.states)/lost+found"))
        #expect(FileManager.default.fileExists(atPath: folder.databasePath))
    }

    @Test("the removal of invalid states keeps an operator's copies and names the removed states")
    func operatorsCopy() throws {
        try DataFolder(path: path).release()
        let uuid = "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9"
        for name in ["2", uuid, "1-before-upgrade", "copy"] { try makeState(name) }
        try write("3 is next week's", to: "\(layout.states)/3")
        let folder = try DataFolder(path: path)
        #expect(folder.hasOtherStates)
        #expect(folder.removeOtherStates().sorted() == [uuid, "2"].sorted())
        #expect(folder.removeOtherStates() == [])
        #expect(!folder.hasOtherStates)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: layout.states).sorted() == [
                "1", "1-before-upgrade", "3", "copy",
            ])
        #expect(FileManager.default.fileExists(atPath: "\(layout.state("copy").objects)/ab/abcdef"))
    }

    @Test("the next removal finishes a killed removal of a state")
    func killedRemoval() throws {
        try DataFolder(path: path).release()
        try makeState("2")
        #expect(rename(layout.state("2").path, "\(layout.states)/.removed-2") == 0)
        let folder = try DataFolder(path: path)
        #expect(layout.stateNames() == ["1"])
        #expect(folder.hasOtherStates)
        folder.removeOtherStates()
        #expect(try FileManager.default.contentsOfDirectory(atPath: layout.states) == ["1"])
        #expect(!folder.hasOtherStates)
    }

    @Test("a start names a file that is in a folder's place", arguments: ["states", "work"])
    func files(name: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try write("scribe-emulator data folder\n", to: layout.lock)
        try write("a file", to: "\(path)/\(name)")
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: path) }
        #expect(problem == .unusable(path: "\(path)/\(name)", reason: "it is a file, and a folder is expected"))
    }

    @Test("a server that released the data folder removes no state of the server that uses it now")
    func lateRemoval() throws {
        let before = try DataFolder(path: path)
        before.release()
        try makeState("2")
        try layout.setCurrent("2")
        let now = try DataFolder(path: path)
        before.removeOtherStates()
        #expect(FileManager.default.fileExists(atPath: now.databasePath))
        now.release()
    }

    @Test("a pipe or a folder in the place of the file current ends the start at once", arguments: [true, false])
    func noFile(isPipe: Bool) throws {
        try DataFolder(path: path).release()
        try FileManager.default.removeItem(atPath: layout.current)
        try #require((isPipe ? mkfifo(layout.current, 0o600) : mkdir(layout.current, 0o700)) == 0)
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: path) }
        #expect(problem?.description.hasPrefix(layout.current) == true)
        #expect(layout.stateNames() == ["1"])
    }

    /// A folder with a valid state that has data, and a next one.
    private func twoStates() throws -> (folder: DataFolder, before: HeldState, next: HeldState) {
        let folder = try DataFolder(path: path)
        try Store(at: .file(folder.databasePath, .normal)).close()
        let next = try folder.makeNextState()
        try SQLiteFile.makeSchema(in: next.databasePath)
        try folder.sync(next)
        return (folder, folder.heldState, next)
    }

    @Test("a kill at any step of a state's replacement leaves the old or the new state valid", arguments: 0..<5)
    func killed(step: Int) throws {
        let (folder, before, next) = try twoStates()
        // What each step leaves behind when it is the last one.
        switch step {
        case 0: unlink(next.databasePath)
        case 1: break
        case 2: try write("2\n", to: "\(layout.current).new")
        case 3: _ = try folder.replaceState(with: next)
        default:
            _ = try folder.replaceState(with: next)
            #expect(rename(before.folder.path, layout.removedState("1")) == 0)
        }
        folder.release()
        for held in [before, next] { held.lock?.release() }
        let again = try DataFolder(path: path)
        let name = step < 3 ? "1" : "2"
        #expect(again.databasePath == layout.state(name).database)
        try Store(at: .file(again.databasePath, .normal)).close()
        again.removeOtherStates()
        #expect(layout.stateNames() == [name])
        #expect(try FileManager.default.contentsOfDirectory(atPath: layout.states) == [name])
    }

    @Test("the replacement of a state removes the replaced state and keeps the valid one")
    func replaced() throws {
        let (folder, before, next) = try twoStates()
        folder.remove(before)
        #expect(layout.stateNames() == ["1", "2"], "it is valid")
        let returned = try folder.replaceState(with: next)
        #expect(returned.folder == before.folder)
        #expect(folder.databasePath == next.databasePath)
        folder.remove(returned)
        #expect(layout.stateNames() == ["2"])
        folder.removeOtherStates()
        #expect(try folder.makeNextState().folder == layout.state("3"))
    }

    @Test("a replacement that fails before its name is valid changes nothing, and a later one succeeds")
    func failed() throws {
        let (folder, before, next) = try twoStates()
        try #require(mkdir("\(layout.current).new", 0o700) == 0)
        #expect(throws: DataFolder.Problem.self) { try folder.replaceState(with: next) }
        #expect(folder.databasePath == before.databasePath)
        #expect(folder.keptStates == [])
        rmdir("\(layout.current).new")
        #expect(try folder.replaceState(with: next).folder == before.folder)
        #expect(try layout.currentName() == "2")
    }

    @Test("a start keeps both states of a replacement that failed half-way, until their marks are gone")
    func halfReplaced() throws {
        let (folder, before, next) = try twoStates()
        folder.release()
        for held in [before, next] {
            held.lock?.release()
            try layout.createFile(held.folder.keepMark)
        }
        for name in ["1", "2"] {
            try layout.setCurrent(name)
            let again = try DataFolder(path: path)
            #expect(again.keptStates == ["1", "2"])
            #expect(!again.hasOtherStates)
            #expect(again.removeOtherStates() == [])
            again.release()
        }
        unlink(before.folder.keepMark)
        let last = try DataFolder(path: path)
        #expect(last.removeOtherStates() == ["1"])
        last.release()
    }

    @Test("a state is not replaced while a backup reads it")
    func backup() throws {
        let (folder, before, next) = try twoStates()
        let (read, hold) = try Backup.held(in: layout)
        #expect(read == before.folder)
        #expect(throws: DataFolder.Problem.backupRuns(path: path)) { try folder.replaceState(with: next) }
        #expect(folder.databasePath == before.databasePath)
        hold.release()
        _ = try folder.replaceState(with: next)
        #expect(try layout.currentName() == "2")
    }
}
