import Basics
import Foundation
import TestSupport
import Testing

@testable import DataFolder
@testable import ScribeStore

/// Folders that a server may use, and folders that are somebody else's.
struct FolderMarkTests {
    private let parent: TemporaryFolder
    private var path: String { "\(parent.path)/data" }
    private var layout: DataFolder.Layout { DataFolder.Layout(path: path) }

    init() throws { parent = try TemporaryFolder() }

    /// Makes files by their paths in the folder. A name with a slash at its end is a folder.
    private func make(_ files: [String: String]) throws {
        for (name, text) in files {
            let url = URL(fileURLWithPath: "\(path)/\(name)")
            let folder = name.hasSuffix("/") ? url : url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            if !name.hasSuffix("/") { try Data(text.utf8).write(to: url) }
        }
    }

    /// All paths below the parent folder, with the contents of files.
    private func everything() throws -> [String: Data?] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: parent.path)
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: "\(parent.path)/\($0)")) })
    }

    static let others: [[String: String]] = [
        ["work/notes.txt": "mine"], ["work": "mine"], ["states/1/deep/letter": "mine"], [".backup-1/letter": "mine"],
        ["objects/ab/abcdef": "mine"],
        ["reserve": "mine"], ["states/2/objects/": "", "states/1/thesis": "mine"], ["snapshots/x.json": "{}"],
        [".profile": "mine"], [".git/": ""], ["lock": "4711\n"], ["lock": "", "letter": "mine"], ["lock/": ""],
        ["lock": "scribe-emulator data folder, or is it?\n"], ["current": "1\n"], ["current": ""], ["current/": ""],
        ["current": "1\n", "states/1/letter": "mine"], ["current": "1\n", "states/1/scribe.sqlite/": ""],
        ["states/1/scribe.sqlite": "no mark"], ["tls/": "", "letter": "mine"], ["signing-key.new": "mine"],
        ["lost+found/": "", "letter": "mine"],
    ]

    @Test(
        "a folder of somebody else is refused by everything that takes a data folder, and stays as it is",
        arguments: others)
    func other(files: [String: String]) throws {
        try make(files)
        let before = try everything()
        let tolerated: Set = ["tls", "signing-key"]
        let names = Set(files.keys.map { String($0.prefix { $0 != "/" }) })
        for isServer in [true, false] {
            let problem = #expect(throws: DataFolder.Problem.self) {
                try DataFolder(path: path, tolerating: tolerated, mustBeEmpty: !isServer)
            }
            guard case .isOther(path, let held)? = problem else {
                Issue.record("\(String(describing: problem))")
                continue
            }
            #expect(!held.isEmpty && names.isSuperset(of: held))
            #expect(
                problem?.description.contains("\(path) is not a data folder of scribe-emulator, and it holds") == true)
        }
        #expect(throws: DataFolder.Problem.self) { try DataFolder.requireOurs(path: path, tolerating: tolerated) }
        #expect(throws: Backup.Problem.self) {
            try Backup.write(folder: path, to: "\(parent.path)/backup", name: "1", secrets: [])
        }
        #expect(try everything() == before)
    }

    @Test("the message about a folder of somebody else names five of its files, and counts the rest")
    func message() throws {
        try make(Dictionary(uniqueKeysWithValues: (1...7).map { ("file\($0)", "mine") }))
        let problem = #expect(throws: DataFolder.Problem.self) { try DataFolder(path: path) }
        #expect(
            problem?.description == """
                \(path) is not a data folder of scribe-emulator, and it holds file1, file2, file3, file4, file5 and 2 \
                more. Name an empty or a new folder with --data-dir
                """)
    }

    @Test(
        "a link in the place of the mark is none, whatever it leads to", arguments: ["lock", "nothing"])
    func link(target: String) throws {
        try make(["../marked/lock": "scribe-emulator data folder\n", "letter": "mine"])
        try FileManager.default.createSymbolicLink(
            atPath: layout.lock, withDestinationPath: "\(parent.path)/marked/\(target)")
        let before = try everything()
        #expect(throws: DataFolder.Problem.isOther(path: path, holds: ["letter", "lock"])) {
            try DataFolder(path: path)
        }
        #expect(try everything() == before)
    }

    @Test("a pipe in the place of the mark is none, and the check does not wait for it")
    func pipe() throws {
        try make(["letter": "mine"])
        try #require(mkfifo(layout.lock, 0o600) == 0)
        #expect(throws: DataFolder.Problem.isOther(path: path, holds: ["letter", "lock"])) {
            try DataFolder(path: path)
        }
    }

    @Test(
        "a folder with nothing but what volumes, images and units put there is a data folder from then on",
        arguments: [
            [:], ["lost+found/": ""], ["states/1/objects/lost+found/": ""], ["work/": ""], ["tls/ca.pem": "x"],
            ["signing-key": "0123456789"], ["lock": ""],
            ["lost+found/": "", "tls/": "", "signing-key": "0123456789", "lock": ""],
        ] as [[String: String]])
    func tolerated(files: [String: String]) throws {
        try make(files)
        let before = try everything()
        try DataFolder(path: path, tolerating: ["tls", "signing-key"]).release()
        let after = try everything()
        for (name, content) in before where name != "data/lock" { #expect(after[name] == content) }
        #expect(FileManager.default.contents(atPath: layout.lock) == Data("scribe-emulator data folder\n".utf8))
        try make(["letter": "mine", "work/letter": "mine", "states/copy/letter": "mine", "snapshots/letter": "mine"])
        let folder = try DataFolder(path: path)
        folder.removeOtherStates()
        for name in ["letter", "work/letter", "states/copy/letter", "snapshots/letter"] {
            #expect(FileManager.default.contents(atPath: "\(path)/\(name)") == Data("mine".utf8))
        }
    }

    @Test("a data folder that was copied without its lock is known by the state that current names")
    func copied() throws {
        try DataFolder(path: path).release()
        try FileManager.default.removeItem(atPath: layout.lock)
        try make(["letter": "mine"])
        try DataFolder(path: path).release()
        #expect(layout.isMarked)
    }
}
