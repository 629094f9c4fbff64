import Basics
import DataFolder
import Foundation
import Logging
import NIOPosix
import ObjectStorage
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// An opened data folder, with the keys and secrets that it holds beside the database.
struct OpenedDataFolder: Sendable {
    let folder: DataFolder
    let reserve: StorageReserve
    private let room: ReceivedBytes.Room
    let keys: WorldStorage.Keys
    let threads: NIOThreadPool
    private let identifiers: IdentifierSource
    private let logger: Logger
    private let place: @Sendable (String, Durability) -> Store.Place

    /// - Parameter secrets: the names of the families' key files.
    /// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
    init(_ configuration: Configuration, _ parts: Emulator.Parts, secrets: [String]) async throws {
        // Checked before the folder is opened: a start with settings that cannot be used makes no folder.
        if let key = configuration.signingKey, key.count < 32 { throw StartupProblem.signingKeyTooShort }
        guard configuration.seedValue == nil || configuration.isEphemeral else {
            throw StartupProblem.seedValueOfFolder
        }
        let threads = NIOThreadPool.singleton
        let now = parts.clock.now
        let keepsRows = !configuration.isEphemeral && configuration.shared == nil
        let requiresSigningKey = keepsRows && configuration.signingKey == nil && !configuration.allowsNewSigningKey
        let (folder, keysOfGroup) = try await threads.runIfActive {
            let folder = try DataFolder(
                path: configuration.dataFolder, tolerating: configuration.namesBeforeFirstStart,
                mustBeEmpty: configuration.snapshotFile != nil,
                keepsRows: keepsRows)
            let keysOfGroup = try folder.requirePrivateKeys(and: secrets)
            if requiresSigningKey, !folder.isNew { try folder.requireSigningKey(at: now) }
            return (folder, keysOfGroup)
        }
        for file in keysOfGroup {
            parts.logger.warning("\(file) is a key, and its group can read it")
        }
        self.folder = folder
        self.threads = threads
        identifiers = parts.identifiers
        room = parts.room
        place = parts.place
        logger = parts.logger
        reserve = try await threads.runIfActive {
            StorageReserve(path: folder.reservePath, folders: folder.writtenFolders, pool: threads)
        }
        keys = WorldStorage.Keys(
            signing: try await configuration.signingKey(keptIn: folder, parts.identifiers), others: folder)
    }

    /// The uploads of a state.
    func objects(of state: HeldState, _ configuration: Configuration) -> ObjectFiles {
        ObjectFiles(
            folder: state.objectsFolder, durability: configuration.durability, identifiers: identifiers, pool: threads,
            room: room)
    }

    /// Opens the database of the valid state, and removes the other states in the background.
    /// - Throws: `Store.Problem`, or SQLite's error.
    func store(
        _ configuration: Configuration, transcribesOnArrival: Bool, _ composition: Composition, _ changes: ChangeHub
    ) async throws -> Store {
        let holder = LeaseHolder.alone(identifiers.uuid())
        let (store, hasOthers, kept) = try await threads.runIfActive { [folder, place] in
            let store = try Store(
                at: place(folder.databasePath, configuration.durability),
                transcribesOnArrival: transcribesOnArrival, quotas: configuration.quotas,
                policies: composition.policies,
                vocabularies: composition.vocabularies, holder: holder, sink: changes
            )
            return (store, folder.hasOtherStates, folder.keptStates)
        }
        for name in kept {
            logger.warning(
                "a reset failed half-way, so \(folder.path)/states/\(name) is kept: remove its file keep if it may go")
        }
        if hasOthers {
            // Removal may take long. A stop interrupts it, and the next start goes on.
            Task { [folder, threads, logger] in
                let removed = try? await threads.runIfActive { folder.removeOtherStates() }
                for name in removed ?? [] {
                    logger.info("\(folder.path)/states/\(name) was not the valid state, and was removed")
                }
            }
        }
        return store
    }

    /// Reads the snapshot that the server starts from into a temporary folder; nil without one.
    /// - Throws: ``StartupProblem/unusableSnapshot(path:reason:)``.
    func importedSnapshot(_ configuration: Configuration) async throws -> SnapshotFolder? {
        guard let path = configuration.snapshotFile else { return nil }
        let snapshot = SnapshotFolder(path: "\(folder.workFolder)/\(identifiers.uuid())")
        do {
            try await threads.runIfActive {
                try snapshot.make()
                try SnapshotImport.read(file: path, into: snapshot, limit: configuration.quotas.storedBytes)
            }
        } catch {
            throw StartupProblem.unusableSnapshot(path: path, reason: "\(error)")
        }
        return snapshot
    }
}
