import Basics
import DataFolder
import Foundation
import Logging
import NIOPosix
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Opened data that several servers share, with the keys that all of them have.
struct SharedStorage: Sendable {
    let store: Store
    let objects: S3Objects
    let changes: ChangeHub
    let keys: WorldStorage.Keys
    private let reserve: StorageReserve
    private let identifiers: IdentifierSource

    /// Opens the database and the bucket.
    /// - Parameters:
    ///   - data: the server's own folder, where arriving bytes wait for the bucket.
    ///   - composition: the families of the server. The store needs their policies.
    /// - Throws: ``StartupProblem``, `Store.Problem`.
    init(
        _ place: SharedPlace, _ configuration: Configuration, _ parts: Emulator.Parts, _ composition: Composition,
        _ data: OpenedDataFolder
    ) async throws {
        guard !configuration.isEphemeral, configuration.snapshotFile == nil, !configuration.allowsReset else {
            throw StartupProblem.sharedDataIsKept
        }
        let threads = NIOThreadPool.singleton
        let (changes, clock) = (ChangeHub(rereadsEvery: .seconds(2)), parts.clock)
        let holder = LeaseHolder.shared(
            parts.identifiers.uuid(), lifetime: place.lease / .seconds(1), worksOnJobs: place.role != .front,
            clock: clock)
        // The fake takes no time, unless a fixture delays it. Another server may have another recogniser.
        let isInstant =
            place.role == .all && configuration.transcriber == .fake && configuration.fixturesFile == nil
        store = try await threads.runIfActive {
            try Store(
                at: .postgreSQL(place.database), transcribesOnArrival: !isInstant, quotas: configuration.quotas,
                policies: composition.policies, vocabularies: composition.vocabularies,
                holder: holder, sink: changes)
        }
        try await store.requireMachineTime(near: clock.now)
        for risk in try await store.risks() { parts.logger.warning("\(risk)") }
        let spool = "\(data.folder.workFolder)/spool"
        try await threads.runIfActive {
            try FileManager.default.createDirectory(atPath: spool, withIntermediateDirectories: true)
        }
        objects = S3Objects(
            place.objects, place.credentials, folder: spool, room: parts.room, removals: store.audio,
            identifiers: parts.identifiers, clock: clock, pool: threads)
        self.changes = changes
        identifiers = parts.identifiers
        reserve = data.reserve
        let secretStore = DatabaseSecrets(store)
        try await objects.check()
        try await objects.claim(by: secretStore)
        keys = WorldStorage.Keys(
            signing: try await configuration.signingKey(keptIn: secretStore, identifiers), others: secretStore)
    }

    /// The storage of the default world of this server.
    /// - Throws: the database's error.
    func opened() async throws -> WorldStorage {
        WorldStorage(
            store: store, objects: objects, reserve: reserve, keys: keys, changes: changes,
            identifiers: WorldIdentifiers(identifiers), place: WorldPlace(state: try await store.stateNumber())
        ) { _ in }
    }
}
