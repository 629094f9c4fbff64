import Crypto
import Engines
import Foundation
import NIOPosix
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// Parts that all temporary worlds of an emulator share: an empty database to copy, and the parent folder of their
/// audio.
final class TemporaryWorlds: Sendable {
    private struct Shared: Sendable {
        let image: StoreImage
        let reserve: StorageReserve
    }

    private let folder: String
    /// Shared parts; nil until the first temporary world.
    private let shared = LockedValue<Task<Shared, any Error>?>(nil)

    private let rowLimit: Int

    /// - Parameters:
    ///   - folder: holds one folder with audio for each world.
    ///   - rowLimit: the most bytes that the rows of all worlds may take together.
    init(folder: String, rowLimit: Int) {
        self.folder = folder
        self.rowLimit = rowLimit
    }

    private func makeShared() async throws -> Shared {
        let making = shared.withLock { shared in
            if let shared { return shared }
            let made = Task { [folder, rowLimit] in
                try await NIOThreadPool.singleton.runIfActive {
                    try FileManager.default.createDirectory(
                        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                    return Shared(
                        image: try StoreImage(rowLimit: rowLimit),
                        reserve: StorageReserve(path: "\(folder)-reserve", pool: .singleton))
                }
            }
            shared = made
            return made
        }
        return try await making.value
    }

    /// Makes the storage of a temporary world: rows in memory, audio in a new folder.
    /// - Parameters:
    ///   - place: the namespace and state of the world.
    ///   - keys: the keys of the world; nil to make new ones.
    /// - Throws: the error of SQLite or of the file system.
    func makeData(
        of emulator: Emulator, _ place: WorldPlace, _ keys: WorldKeys?
    ) async throws -> (data: WorldData, folder: String) {
        let shared = try await makeShared()
        let (composition, identifiers) = (emulator.composition, emulator.parts.identifiers)
        let own = "\(folder)/\(identifiers.uuid())"
        let changes = ChangeHub()
        let store = try await NIOThreadPool.singleton.runIfActive {
            let store = try shared.image.store(
                transcribesOnArrival: !emulator.engines.transcriber.isInstant, quotas: emulator.configuration.quotas,
                policies: composition.policies, vocabularies: EventVocabularies(composition.webhookFormats),
                sink: changes)
            try FileManager.default.createDirectory(
                atPath: own, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            return store
        }
        let keys =
            keys
            ?? WorldKeys(
                signing: SymmetricKey(data: identifiers.bytes(32)), others: MemorySecrets(threads: .singleton))
        let data = WorldData(
            store: store,
            objects: ObjectFiles(
                folder: own, durability: .normal, identifiers: identifiers, pool: .singleton, isBackedUp: false),
            reserve: shared.reserve, key: keys.signing, secretStore: keys.others, changes: changes, place: place)
        return (data, own)
    }
}

/// Keys of a temporary world, which a reset keeps.
struct WorldKeys: Sendable {
    /// Signs tokens and links.
    let signing: SymmetricKey
    let others: any SecretStore
}

/// A temporary world: rows in memory, audio in a folder of its own. Closing the world removes both.
package final class TemporaryWorld: Sendable {
    package let world: World
    /// The folder with the world's audio.
    let folder: String
    let keys: WorldKeys
    private let running: Task<Void, Never>
    private let isClosed = LockedValue(false)

    /// - Throws: ``StartupProblem``, the error of SQLite or of the file system.
    init(
        of emulator: Emulator, _ place: WorldPlace, _ configuredClients: ConfiguredClients, _ keys: WorldKeys?
    ) async throws {
        let (data, folder) = try await emulator.temporary.makeData(of: emulator, place, keys)
        self.keys = WorldKeys(signing: data.key, others: data.secretStore)
        do {
            world = try await World.seeded(emulator, on: data, configuredClients)
        } catch {
            await Self.remove(data.store, folder)
            throw error
        }
        self.folder = folder
        let services = emulator.services(of: world, objects: data.objects)
        running = Task {
            await withDiscardingTaskGroup { group in
                for service in services { group.addTask { try? await service.run() } }
            }
        }
    }

    /// Closes the world and removes its data. Writes in progress end first, later ones are refused. Repeatable.
    package func close() async {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        world.endConnections()
        running.cancel()
        await running.value
        await Self.remove(world.runtime.store, folder)
    }

    /// Ends the world's held polls and sockets, waits until its requests have ended, and closes the world.
    /// - Parameter limit: the longest wait.
    func close(within limit: Duration, _ clock: WallClock) async {
        world.endConnections()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [world] in await world.use.whenIdle() }
            group.addTask { try? await clock.sleep(for: limit, as: .namespaces) }
            await group.next()
            group.cancelAll()
        }
        await close()
    }

    /// Closes the store and removes the folder, also in a cancelled task.
    private static func remove(_ store: Store, _ folder: String) async {
        try? await shieldFromCancellation {
            try await NIOThreadPool.singleton.runIfActive {
                try? store.close()
                // Renamed first, so that late writes into the folder fail.
                let old = "\(folder).old"
                guard rename(folder, old) == 0 else { return }
                try? FileManager.default.removeItem(atPath: old)
            }
        }
    }
}

extension Emulator {
    /// Makes a temporary world.
    /// - Throws: ``StartupProblem``, the error of SQLite or of the file system.
    package func temporaryWorld() async throws -> TemporaryWorld {
        try await TemporaryWorld(of: self, WorldPlace(), configuredClients.withLock { $0 }, nil)
    }

    /// Makes the world of a namespace.
    /// - Parameter before: the world that it replaces, whose keys it keeps; nil for a new namespace.
    /// - Throws: ``StartupProblem``, the error of SQLite or of the file system.
    func temporaryWorld(
        _ place: WorldPlace, for client: NamespaceClient, after before: TemporaryWorld? = nil
    ) async throws -> TemporaryWorld {
        try await TemporaryWorld(
            of: self, place, configuredClients.withLock { $0 }.adding(client), before?.keys)
    }
}
