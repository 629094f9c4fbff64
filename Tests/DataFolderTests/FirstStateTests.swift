import Basics
import Foundation
import GRDB
import TestSupport
import Testing

@testable import DataFolder
@testable import ScribeStore

/// The first start on a data folder, and starts on folders whose file `current` is missing.
struct FirstStateTests {
    private let parent: TemporaryFolder
    private var path: String { "\(parent.path)/data" }
    private var layout: DataFolder.Layout { DataFolder.Layout(path: path) }

    init() throws { parent = try TemporaryFolder() }

    private func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }

    /// Makes a folder that a server has begun to use.
    private func mark() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try write("scribe-emulator data folder\n", to: layout.lock)
    }

    /// Runs statements on the first state's database.
    private func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: layout.firstState.database)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func value(of sql: String) throws -> Int? {
        try DatabaseQueue(path: layout.firstState.database).read { try Int.fetchOne($0, sql: sql) }
    }

    /// Whether a database has the whole schema.
    private func isWhole(_ database: String) throws -> Bool {
        let parts = try DatabaseQueue(path: database).read { try SQLiteSchema.parts(in: $0) }
        return try parts == SQLiteSchema.parts(ofVersion: SQLiteSchema.latestVersion)
    }

    @Test("the first state has its schema in the file that is synced, not in the log, when the file current names it")
    func fresh() throws {
        let folder = try DataFolder(path: path)
        #expect(try layout.currentName() == "1")
        let copy = "\(parent.path)/copy.sqlite"
        try FileManager.default.copyItem(atPath: folder.databasePath, toPath: copy)
        #expect(try isWhole(copy))
    }

    @Test("a folder of a server with rows elsewhere has no state, and gets one when a later server keeps rows")
    func withoutRows() throws {
        try DataFolder(path: path, mustBeEmpty: true, keepsRows: false).release()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["lock", "rows-in-memory", "work"])
        #expect(try DataFolder(path: path).databasePath == layout.firstState.database)
    }

    @Test(
        "a kill at any step of a first start leaves a folder without data, which the next start opens",
        arguments: 0..<11)
    func killed(count: Int) throws {
        let state = layout.firstState
        let steps: [() throws -> Void] = [
            { #expect(mkdir(path, 0o700) == 0) },
            { try write("", to: layout.lock) },
            { try mark() },
            { #expect(mkdir(layout.states, 0o700) == 0) },
            { #expect(mkdir(state.path, 0o700) == 0) },
            { #expect(mkdir(state.objects, 0o700) == 0) },
            { try write("", to: state.database) },
            { try execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL") },
            { try SQLiteDatabase.makeSchema(in: state.database) },
            { try write("1\n", to: "\(layout.current).new") },
        ]
        for step in steps.prefix(count) { try step() }
        #expect(try layout.currentName() == nil && !layout.holdsData())
        let folder = try DataFolder(path: path, mustBeEmpty: true)
        #expect(try layout.currentName() == "1")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["current", "lock", "states", "work"])
        #expect(try isWhole(folder.databasePath))
        #expect(try !layout.holdsData())
    }

    @Test("a start keeps the rows of an only state whose name is lost, and a restore into the folder is refused")
    func lostName() throws {
        try DataFolder(path: path).release()
        try execute("INSERT INTO generations (name, value) VALUES ('kept', 7)")
        try FileManager.default.removeItem(atPath: layout.current)
        #expect(throws: DataFolder.Problem.holdsData(path: path)) { try DataFolder(path: path, mustBeEmpty: true) }
        #expect(try layout.currentName() == nil)
        try DataFolder(path: path).release()
        #expect(try layout.currentName() == "1")
        #expect(try value(of: "SELECT value FROM generations WHERE name = 'kept'") == 7)
    }

    @Test("a start leaves another program's database in the first state's place, and does not name it")
    func foreign() throws {
        try mark()
        try FileManager.default.createDirectory(atPath: layout.firstState.path, withIntermediateDirectories: true)
        try execute("CREATE TABLE transactions (x); INSERT INTO transactions VALUES (7)")
        #expect(throws: DataFolder.Problem.holdsData(path: path)) { try DataFolder(path: path, mustBeEmpty: true) }
        #expect(throws: Store.Problem.foreign(path: layout.firstState.database)) { try DataFolder(path: path) }
        #expect(try layout.currentName() == nil)
        #expect(try value(of: "SELECT x FROM transactions") == 7)
    }

    @Test("a start makes no new database for uploads that lost theirs", arguments: [true, false])
    func uploadsAlone(isEmpty: Bool) throws {
        let objects = layout.firstState.objects
        try mark()
        try FileManager.default.createDirectory(atPath: "\(objects)/ab", withIntermediateDirectories: true)
        try write("speech", to: "\(objects)/ab/abcdef")
        if isEmpty { try write("", to: layout.firstState.database) }
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: path) }
        #expect(problem?.description.contains("so is the database of the uploads in \(objects)") == true)
        #expect(try layout.currentName() == nil)
        #expect(try String(contentsOfFile: "\(objects)/ab/abcdef", encoding: .utf8) == "speech")
    }
}
