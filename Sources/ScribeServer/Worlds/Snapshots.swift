import Basics
import Foundation
import NIOCore
import NIOPosix
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Snapshots of one namespace, in a folder: a file `NAME.json` for each, which names the folder with the snapshot. A
/// snapshot is replaced by a rename of that file.
final class Snapshots: SnapshotControl {
    /// Content of `NAME.json`.
    private struct Pointer: Codable {
        let folder: String
    }

    let limit = 100
    private let folder: String
    private let emulator: Emulator
    private let threads = NIOThreadPool.singleton
    /// The namespace's present world, and its own client; nil for the default namespace.
    private let source: @Sendable () -> (world: RunningWorld, owner: SnapshotOwner?)?
    private let restoring: @Sendable (SnapshotFolder) async throws -> Int
    /// Folders that are being made, exported or restored, with the number of tasks.
    private let readers = LockedValue<[String: Int]>([:])

    /// The making of a snapshot, an export or a restore. Its end removes a snapshot that has lost its name meanwhile.
    private final class Reader: Sendable {
        let snapshot: SnapshotFolder
        private let snapshots: Snapshots

        init(_ snapshot: SnapshotFolder, of snapshots: Snapshots) {
            self.snapshot = snapshot
            self.snapshots = snapshots
            snapshots.readers.withLock { $0[snapshot.path, default: 0] += 1 }
        }

        deinit {
            let isLast = snapshots.readers.withLock { readers in
                let count = (readers[snapshot.path] ?? 1) - 1
                readers[snapshot.path] = count == 0 ? nil : count
                return count == 0
            }
            guard isLast else { return }
            // Not in this task, which may be an event loop's: removing files blocks.
            Task.detached { [snapshots, snapshot] in
                _ = try? await snapshots.threads.runIfActive { snapshots.removeUnnamed(snapshot) }
            }
        }
    }

    init(
        in folder: String, _ emulator: Emulator,
        of source: @escaping @Sendable () -> (world: RunningWorld, owner: SnapshotOwner?)?,
        restoring: @escaping @Sendable (SnapshotFolder) async throws -> Int
    ) {
        self.folder = folder
        self.emulator = emulator
        self.source = source
        self.restoring = restoring
    }

    private func pointer(_ name: SnapshotName) -> String { "\(folder)/\(name).json" }

    /// The folder of a snapshot. Blocking.
    private func found(_ name: SnapshotName) throws -> SnapshotFolder {
        guard let data = FileManager.default.contents(atPath: pointer(name)),
            let pointer = try? JSONDocument(data).decode(Pointer.self), UUID(uuidString: pointer.folder) != nil
        else { throw SnapshotProblem.unknown }
        return SnapshotFolder(path: "\(folder)/\(pointer.folder)")
    }

    /// Blocking.
    private func names() -> [SnapshotName] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".json") }.compactMap { SnapshotName($0.dropLast(5)) }.sorted()
    }

    private static func record(_ name: SnapshotName, _ snapshot: SnapshotFolder) throws -> SnapshotRecord {
        let manifest = try snapshot.manifest()
        let rows = try FileManager.default.attributesOfItem(atPath: snapshot.databasePath)[.size] as? Int
        return SnapshotRecord(
            name: name, createdAt: manifest.createdAt, objects: manifest.objects, size: manifest.bytes + (rows ?? 0))
    }

    func list() async throws -> [SnapshotRecord] {
        try await threads.runIfActive { [self] in
            names().compactMap { name in try? Self.record(name, found(name)) }
        }
    }

    func record(of name: SnapshotName) async throws -> SnapshotRecord {
        try await threads.runIfActive { [self] in try Self.record(name, found(name)) }
    }

    func save(as name: SnapshotName) async throws -> SnapshotRecord {
        guard let source = source() else { throw SnapshotProblem.busy }
        return try await making(name) { [emulator, threads] snapshot in
            let runtime = source.world.world.runtime
            _ = try await runtime.store.save(
                in: snapshot, source.world.storage.objects, owner: source.owner, runtime.identifiers,
                at: emulator.parts.clock.now, on: threads)
        }
    }

    func read<Body: AsyncSequence & Sendable>(_ name: SnapshotName, from body: Body) async throws -> SnapshotRecord
    where Body.Element == ByteBuffer {
        try await making(name) { [emulator, threads] snapshot in
            guard let reserve = self.source()?.world.world.runtime.reserve else { throw SnapshotProblem.busy }
            try await Self.read(
                body, into: snapshot, limit: emulator.configuration.quotas.storedBytes, reserve, on: threads)
        }
    }

    /// Reads the file of a snapshot into an empty folder, and checks it.
    static func read<Body: AsyncSequence & Sendable>(
        _ body: Body, into snapshot: SnapshotFolder, limit: Int?, _ reserve: StorageReserve, on threads: NIOThreadPool
    ) async throws where Body.Element == ByteBuffer {
        var reader = SnapshotImport(into: snapshot, limit: limit, on: threads)
        do {
            for try await bytes in body {
                try await reserve.requireRoom()
                try await reader.take(bytes)
            }
            try await reader.finish()
        } catch {
            reader.close()
            throw error
        }
    }

    /// Makes a snapshot in a folder of its own, and gives it the name once it is whole.
    private func making(
        _ name: SnapshotName, _ make: @Sendable (SnapshotFolder) async throws -> Void
    ) async throws -> SnapshotRecord {
        let id = emulator.parts.identifiers.uuid()
        let snapshot = SnapshotFolder(path: "\(folder)/\(id)")
        // Keeps the folder, which has no name yet.
        let making = Reader(snapshot, of: self)
        defer { withExtendedLifetime(making) {} }
        try await threads.runIfActive { [self] in
            let known = names()
            guard known.contains(name) || known.count < limit else { throw SnapshotProblem.tooMany(limit: limit) }
            try snapshot.make()
        }
        do {
            try await make(snapshot)
            return try await threads.runIfActive { [self] in
                let record = try Self.record(name, snapshot)
                let before = try? found(name)
                let data = try JSONEncoder().encode(Pointer(folder: id))
                try data.write(to: URL(fileURLWithPath: pointer(name)), options: .atomic)
                if let before { remove(before) }
                return record
            }
        } catch {
            try? await shieldFromCancellation { [threads] in
                try await threads.runIfActive { try? FileManager.default.removeItem(atPath: snapshot.path) }
            }
            throw error
        }
    }

    func delete(_ name: SnapshotName) async throws {
        try await threads.runIfActive { [self] in
            let snapshot = try found(name)
            try FileManager.default.removeItem(atPath: pointer(name))
            remove(snapshot)
        }
    }

    /// Removes a snapshot that has no name any more, unless it is being restored. Blocking.
    private func remove(_ snapshot: SnapshotFolder) {
        guard readers.withLock({ $0[snapshot.path] == nil }) else { return }
        try? FileManager.default.removeItem(atPath: snapshot.path)
    }

    /// Removes a snapshot that has no name any more. Blocking.
    private func removeUnnamed(_ snapshot: SnapshotFolder) {
        guard !names().contains(where: { (try? found($0)) == snapshot }) else { return }
        remove(snapshot)
    }

    /// Removes the folders without a name, which a kill has left. Blocking.
    func removeLeftovers() {
        let named = Set(names().compactMap { try? found($0).path })
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where UUID(uuidString: entry) != nil && !named.contains("\(folder)/\(entry)") {
            remove(SnapshotFolder(path: "\(folder)/\(entry)"))
        }
    }

    /// Removes all snapshots. Blocking.
    func removeAll() { try? FileManager.default.removeItem(atPath: folder) }

    func archive(of name: SnapshotName) async throws -> SnapshotArchive {
        try await threads.runIfActive { [self] in
            let snapshot = try found(name)
            return try SnapshotArchive(snapshot, reading: Reader(snapshot, of: self), on: threads)
        }
    }

    func restore(_ name: SnapshotName) async throws -> Int {
        let reader = try await threads.runIfActive { [self] in Reader(try found(name), of: self) }
        defer { withExtendedLifetime(reader) {} }
        return try await restoring(reader.snapshot)
    }
}
