import Crypto
import Engines
import Foundation
import NIOPosix
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// What all throw-away worlds of an emulator share: an empty database to copy, and the folder that theirs are in.
final class TemporaryWorlds: Sendable {
    private struct Shared {
        let image: StoreImage
        let reserve: StorageReserve
    }

    private let folder: String
    private let shared = LockedValue<Shared?>(nil)

    /// - Parameter folder: for their audio. It is made when the first of them is.
    init(folder: String) { self.folder = folder }

    /// Makes the data of a world. Blocking.
    /// - Throws: what SQLite or the file system says.
    func data(_ id: String, of emulator: Emulator) throws -> (data: WorldData, folder: String) {
        let shared = try shared.withLock { shared in
            if let shared { return shared }
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let made = Shared(
                image: try StoreImage(), reserve: StorageReserve(path: "\(folder)/reserve", pool: .singleton))
            shared = made
            return made
        }
        let own = "\(folder)/\(id)"
        try FileManager.default.createDirectory(
            atPath: own, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let changes = ChangeHub()
        let (composition, identifiers) = (emulator.composition, emulator.parts.identifiers)
        let secrets = LockedValue<[String: [UInt8]]>([:])
        let data = WorldData(
            store: try shared.image.store(
                transcribesOnArrival: !emulator.engines.transcriber.isInstant, quotas: emulator.configuration.quotas,
                policies: composition.policies, vocabularies: EventVocabularies(composition.webhookFormats),
                sink: changes),
            objects: ObjectFiles(
                folder: own, durability: .normal, identifiers: identifiers, pool: .singleton, isBackedUp: false),
            reserve: shared.reserve, key: SymmetricKey(data: identifiers.bytes(32)),
            secretFiles: { name, fresh in
                if let known = secrets.withLock({ $0[name] }) { return known }
                let made = try fresh()
                return secrets.withLock { secrets in
                    if let known = secrets[name] { return known }
                    secrets[name] = made
                    return made
                }
            }, changes: changes)
        return (data, own)
    }
}

/// A world whose rows are in memory and whose audio is in a folder of its own: both are gone when it is closed.
package final class TemporaryWorld: Sendable {
    package let world: World
    private let folder: String
    private let running: Task<Void, Never>

    /// - Parameter id: names its folder; no other world has it.
    /// - Throws: ``StartupProblem``, what SQLite or the file system says.
    init(_ id: String, of emulator: Emulator, _ logins: Logins) async throws {
        let threads = NIOThreadPool.singleton
        let (data, folder) = try await threads.runIfActive { try emulator.temporary.data(id, of: emulator) }
        let world = try await World.seeded(emulator, on: data, logins)
        self.world = world
        self.folder = folder
        let services = emulator.services(of: world, objects: data.objects)
        running = Task {
            await withDiscardingTaskGroup { group in
                for service in services { group.addTask { try? await service.run() } }
            }
        }
    }

    /// Ends it: writes that are under way end first, later ones are refused, and nothing of it is left.
    package func close() async {
        running.cancel()
        await running.value
        let (store, folder) = (world.runtime.store, folder)
        _ = try? await NIOThreadPool.singleton.runIfActive {
            try? store.close()
            try? FileManager.default.removeItem(atPath: folder)
        }
    }
}

extension Emulator {
    /// Makes a throw-away world.
    /// - Parameter id: no other world of the emulator has it.
    /// - Throws: ``StartupProblem``, what SQLite or the file system says.
    package func temporaryWorld(_ id: String) async throws -> TemporaryWorld {
        try await TemporaryWorld(id, of: self, logins)
    }
}
