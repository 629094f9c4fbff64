import Basics
import Foundation
import NIOPosix
import ObjectStorage
import TestSupport
import Testing

@testable import DataFolder
@testable import ScribeStore

/// Data folders in the folder for temporary files, and what killed servers leave of them.
struct TemporaryDataFolderTests {
    private let parent: TemporaryFolder
    private let id = "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9"

    init() throws { parent = try TemporaryFolder() }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: parent.path).sorted()
    }

    /// Makes a folder as a killed server leaves it.
    private func makeLeft(_ name: String) throws -> String {
        let path = "\(parent.path)/\(name)"
        try DataFolder(path: path, keepsRows: false).release()
        return path
    }

    @Test("a start removes the folder that a killed server left, and keeps that of a server that runs")
    func left() throws {
        let running = try TemporaryDataFolder(in: parent.path, name: "1f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9")
        let folder = try DataFolder(path: running.path, keepsRows: false)
        _ = try makeLeft("scribe-emulator-\(id)")
        TemporaryDataFolder.removeLeft(in: parent.path)
        #expect(try names() == [URL(fileURLWithPath: running.path).lastPathComponent])
        folder.release()
        TemporaryDataFolder.removeLeft(in: parent.path)
        #expect(FileManager.default.fileExists(atPath: running.path), "its lock is not released yet")
        running.remove()
        #expect(try names() == [])
    }

    @Test("a start removes nothing else: links, other names, other contents, and folders with one lock of two")
    func others() throws {
        let elsewhere = try makeLeft("elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: "\(parent.path)/scribe-emulator-\(id)", withDestinationPath: elsewhere)
        _ = try makeLeft("scribe-emulator-mine")
        _ = try makeLeft("mine-\(id)")
        let letter = "\(parent.path)/scribe-emulator-2\(id.dropFirst())"
        try FileManager.default.createDirectory(atPath: letter, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: "\(letter)/letter"))
        let locked = try DataFolder(path: "\(parent.path)/scribe-emulator-3\(id.dropFirst())", keepsRows: false)
        let held = try FolderLock(try makeLeft("scribe-emulator-4\(id.dropFirst())"), LOCK_SH)
        try Data().write(to: URL(fileURLWithPath: "\(parent.path)/scribe-emulator-5\(id.dropFirst())"))
        let before = try names()
        TemporaryDataFolder.removeLeft(in: parent.path)
        #expect(try names() == before)
        #expect(FileManager.default.fileExists(atPath: "\(elsewhere)/lock"))
        locked.release()
        held.release()
        TemporaryDataFolder.removeLeft(in: parent.path)
        #expect(try names().count == before.count - 2)
    }

    @Test("a folder for temporary files that is a file is named in the error, with what helps")
    func unusable() throws {
        let file = try parent.write(Data(), as: "file")
        let problem = #expect(throws: DataFolder.Problem.self) { try TemporaryDataFolder(in: file, name: id) }
        #expect(
            problem?.ofTemporaryFolder(file) == """
                \(file) cannot be used for temporary files: a part of its path is a file. Set TMPDIR to a folder with \
                room that this user may write to
                """)
    }

    @Test("only a folder with a state has a reserve on the disk; both know whether there is room")
    func reserve() async throws {
        let path = try makeLeft("data")
        for keepsRows in [false, true] {
            let folder = try DataFolder(path: path, keepsRows: keepsRows)
            let reserve = StorageReserve(
                path: folder.reservePath, folders: folder.writtenFolders, pool: .singleton)
            try await reserve.requireRoom()
            #expect(await reserve.hasRoom())
            #expect(FileManager.default.fileExists(atPath: "\(path)/reserve") == keepsRows)
            #expect(await reserve.hasRoom(), "the question takes no room")
            folder.release()
        }
    }

    @Test("a place without a reserve has no room until the reserve can be taken")
    func noReserve() async throws {
        let reserve = StorageReserve(path: "\(parent.path)/missing/reserve", pool: .singleton)
        #expect(await !reserve.hasRoom())
        try FileManager.default.createDirectory(atPath: "\(parent.path)/missing", withIntermediateDirectories: true)
        #expect(await reserve.hasRoom())
    }
}
