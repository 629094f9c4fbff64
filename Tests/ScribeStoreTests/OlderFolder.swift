import Foundation
import Glibc
import NIOCore
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// A data folder as earlier versions leave it when they are killed: without `current`, and with the last commits in the
/// log alone.
struct OlderFolder {
    let path: String
    private let parent: TemporaryFolder
    /// Of the one upload.
    private let file: String

    init() async throws {
        parent = try TemporaryFolder()
        path = "\(parent.path)/data"
        let running = StateFolder(path: "\(parent.path)/running")
        for folder in [running.objects, "\(running.path)/work"] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        for name in ["lock", "reserve"] { try Data().write(to: URL(fileURLWithPath: "\(running.path)/\(name)")) }
        let key = URL(fileURLWithPath: "\(running.path)/\(DataFolder.signingKey)")
        try Data("key".utf8).write(to: key)
        let store = try Store(at: .file(running.database, .normal))
        file = try await Self.upload(to: store, running)
        // While it is open: a database that is closed has no log.
        try FileManager.default.copyItem(atPath: running.path, toPath: path)
        try store.close()
        try #require(StateFolder.size(ofFile: "\(old.database)-wal") ?? 0 > 0)
    }

    var layout: DataFolder.Layout { DataFolder.Layout(path: path) }
    var old: StateFolder { layout.old }

    /// Stores an object.
    /// - Returns: the name of its file.
    static func upload(to store: Store, _ state: StateFolder) async throws -> String {
        let objects = ObjectFiles(
            folder: state.objects, durability: .normal, identifiers: .counting(), pool: .singleton)
        let name = objects.freshName()
        var writer = objects.create(name)
        try await writer.write(ByteBuffer(string: "speech"))
        _ = try await writer.finish()
        let object = StoredObject(
            bucket: "b", key: "k", file: name, size: 6, eTag: String(repeating: "a", count: 32), contentType: nil,
            metadata: [:], createdAt: Date(timeIntervalSince1970: 1_778_404_353))
        _ = try await store.put(object, business: .init("b-1"))
        return name
    }

    /// Keeps earlier versions out, so that the next start leaves the log to be moved.
    func keepEarlierVersionsOut() throws {
        try FileManager.default.removeItem(atPath: layout.work)
        try Data().write(to: URL(fileURLWithPath: layout.work))
    }

    /// Starts an earlier version, as far as it goes before it opens its database.
    /// - Returns: whether it ends with an error, or else has all data before it.
    func isSafeFromEarlierVersion() -> Bool {
        mkdir(old.objects, 0o700)
        if FileManager.default.fileExists(atPath: layout.work), !DataFolder.isFolder(layout.work) { return true }
        let descriptor = Glibc.open(old.database, O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0 else { return true }
        Glibc.close(descriptor)
        return old.hasDatabase && FileManager.default.fileExists(atPath: "\(old.objects)/\(file.prefix(2))/\(file)")
    }

    /// Requires that a start opens the folder in the new layout, with everything that was in it.
    func requireWhole() async throws {
        let folder = try DataFolder(path: path)
        try await requireUpload(in: StateFolder(path: "\(path)/states/1"))
        #expect(folder.databasePath == layout.firstState.database)
        #expect(try String(contentsOfFile: layout.current, encoding: .utf8) == "1\n")
        // An earlier version that was kept out leaves a folder for uploads.
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "objects" }
        #expect(
            names.sorted() == ["current", "lock", "reserve", "scribe.sqlite", "signing-key", "states", "work"])
        #expect(DataFolder.isFolder(old.database) && DataFolder.isFolder(layout.work))
    }

    func requireUpload(in state: StateFolder) async throws {
        let store = try Store(at: .file(state.database, .normal))
        let object = try await store.object(business: .init("b-1"), bucket: "b", key: "k")
        #expect(object?.file == file)
        let bytes = FileManager.default.contents(atPath: "\(state.objects)/\(file.prefix(2))/\(file)")
        #expect(bytes == Data("speech".utf8))
        try store.close()
    }
}
