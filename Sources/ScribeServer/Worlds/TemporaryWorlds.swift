import Basics
import Engines
import Foundation
import NIOPosix
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Parts that all temporary worlds of an emulator share: an empty database to copy, and the parent folder of their
/// audio.
final class TemporaryWorlds: Sendable {
    private let folder: String
    private let reserve: StorageReserve
    /// The database that is copied; nil until the first temporary world.
    private let image = LockedValue<Task<StoreImage, any Error>?>(nil)
    private let memory: WorldMemory

    /// - Parameters:
    ///   - folder: holds one folder with audio for each world.
    ///   - memory: the memory that the rows of all worlds take.
    init(folder: String, reserve: StorageReserve, memory: WorldMemory) {
        self.folder = folder
        self.reserve = reserve
        self.memory = memory
    }

    private func madeImage() async throws -> StoreImage {
        let making = image.withLock { image in
            if let image { return image }
            let made = Task { [folder, memory] in
                try await NIOThreadPool.singleton.runIfActive {
                    try FileManager.default.createDirectory(
                        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                    return try StoreImage(memory: memory)
                }
            }
            image = made
            return made
        }
        return try await making.value
    }

    /// A path for the snapshots of a new namespace.
    func newSnapshotFolder(_ identifiers: IdentifierSource) -> String { "\(folder)/snapshots-\(identifiers.uuid())" }

    /// Makes the storage of a temporary world: rows in memory, audio in a new folder.
    /// - Parameters:
    ///   - place: the namespace and state of the world.
    ///   - seed: source of its identifiers; nil for random ones.
    /// - Throws: the error of SQLite or of the file system.
    func makeStorage(
        of emulator: Emulator, _ place: WorldPlace, _ keys: WorldStorage.Keys, _ seed: SeedValue?
    ) async throws -> WorldStorage {
        let image = try await madeImage()
        let (composition, identifiers) = (emulator.composition, emulator.parts.identifiers)
        let own = "\(folder)/\(identifiers.uuid())"
        let changes = ChangeHub()
        let store = try await NIOThreadPool.singleton.runIfActive {
            let store = try image.store(
                transcribesOnArrival: !emulator.engines.transcriber.isInstant, quotas: emulator.configuration.quotas,
                policies: composition.policies, vocabularies: composition.vocabularies,
                sink: changes)
            try FileManager.default.createDirectory(
                atPath: own, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            return store
        }
        return WorldStorage(
            store: store,
            objects: ObjectFiles(
                folder: own, durability: .normal, identifiers: identifiers, pool: .singleton, isBackedUp: false,
                room: emulator.parts.room),
            reserve: reserve, keys: keys, changes: changes, identifiers: WorldIdentifiers(identifiers, seed: seed),
            place: place
        ) { _ in
            // Renamed first, so that late writes into the folder fail.
            let old = "\(own).old"
            guard rename(own, old) == 0 else { return }
            try? FileManager.default.removeItem(atPath: old)
        }
    }
}

extension Emulator {
    /// Makes a temporary world: rows in memory, audio in a folder of its own. Closing the world removes both.
    /// - Throws: ``StartupProblem``, the error of SQLite or of the file system.
    package func temporaryWorld() async throws -> RunningWorld {
        try await temporaryWorld(
            WorldPlace(), configuredClients.withLock { $0 }, WorldStorage.Keys(parts.identifiers),
            configuration.seedValue)
    }

    /// Makes the world of a namespace.
    /// - Throws: ``StartupProblem``, the error of SQLite or of the file system.
    /// - Parameter snapshot: first rows and audio of the world; nil to begin empty.
    func temporaryWorld(
        _ place: WorldPlace, for client: NamespaceClient, _ keys: WorldStorage.Keys, _ seed: SeedValue?,
        from snapshot: SnapshotFolder? = nil
    ) async throws -> RunningWorld {
        try await temporaryWorld(
            place, configuredClients.withLock { $0 }.adding(client), keys, seed, from: snapshot, owner: client.owner)
    }

    private func temporaryWorld(
        _ place: WorldPlace, _ configuredClients: ConfiguredClients, _ keys: WorldStorage.Keys,
        _ seed: SeedValue?, from snapshot: SnapshotFolder? = nil, owner: SnapshotOwner? = nil
    ) async throws -> RunningWorld {
        var storage = try await temporary.makeStorage(of: self, place, keys, seed)
        do {
            if let snapshot { try await storage.fill(from: snapshot, owner: owner, of: self) }
            let world = try await World.seeded(self, on: storage, configuredClients)
            let running = RunningWorld(
                world, on: storage, services: services(of: world, objects: storage.objects), logger: parts.logger)
            running.start()
            return running
        } catch {
            await storage.close(keepingData: false)
            throw error
        }
    }
}
