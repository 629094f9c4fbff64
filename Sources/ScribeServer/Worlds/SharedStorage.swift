import Basics
import Crypto
import Foundation
import Logging
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
package import ScribeStore
import ServiceLifecycle

/// Place of data that several servers share: rows in PostgreSQL, audio in a bucket of S3.
package struct SharedPlace: Sendable {
    let database: PostgreSQLAddress
    let objects: S3Address
    let credentials: S3Address.Credentials
    /// Part of the work that a server takes.
    package enum Role: String, CaseIterable, Sendable {
        case all
        /// Serves clients and sends webhooks. Other servers recognise speech and write notes.
        case front
        /// Recognises speech and writes notes. It answers health checks alone.
        case worker
    }

    let role: Role
    /// Time that a server's claim of a job is valid without a sign of life.
    let lease: Duration

    package init(
        database: PostgreSQLAddress, objects: S3Address, credentials: S3Address.Credentials,
        role: Role = .all, lease: Duration = .seconds(30)
    ) {
        self.role = role
        self.database = database
        self.objects = objects
        self.credentials = credentials
        self.lease = lease
    }
}

/// Opened data that several servers share, with the keys that all of them have.
struct SharedStorage: Sendable {
    let store: Store
    let objects: S3Objects
    let changes: ChangeHub
    let key: SymmetricKey
    let secretStore: DatabaseSecrets
    private let identifiers: IdentifierSource

    /// Opens the database and the bucket.
    /// - Parameters:
    ///   - work: an existing folder of this process alone.
    ///   - composition: the families of the server, whose policies the store needs.
    /// - Throws: ``StartupProblem``, `Store.Problem`.
    init(
        _ place: SharedPlace, _ configuration: Configuration, _ parts: Emulator.Parts, _ composition: Composition,
        work: String
    ) async throws {
        guard !configuration.isEphemeral, configuration.snapshotFile == nil, !configuration.allowsReset else {
            throw StartupProblem.sharedDataIsKept
        }
        let threads = NIOThreadPool.singleton
        let (changes, clock) = (ChangeHub(rereadsEvery: .seconds(2)), parts.clock)
        let holder = LeaseHolder.shared(
            parts.identifiers.uuid(), lifetime: place.lease / .seconds(1), worksOnJobs: place.role != .front,
            clock: clock)
        store = try await threads.runIfActive {
            try Store(
                at: .postgreSQL(place.database), transcribesOnArrival: true, quotas: configuration.quotas,
                policies: composition.policies, vocabularies: EventVocabularies(composition.webhookFormats),
                holder: holder, sink: changes)
        }
        try await store.requireMachineTime(near: clock.now)
        for risk in try await store.risks() { parts.logger.warning("\(risk)") }
        let spool = "\(work)/spool"
        try await threads.runIfActive {
            try FileManager.default.createDirectory(atPath: spool, withIntermediateDirectories: true)
        }
        objects = S3Objects(
            place.objects, place.credentials, folder: spool, store: store, identifiers: parts.identifiers,
            clock: clock, pool: threads)
        self.changes = changes
        identifiers = parts.identifiers
        secretStore = DatabaseSecrets(store)
        try await objects.check()
        try await objects.claim(by: secretStore)
        if let key = configuration.signingKey {
            self.key = SymmetricKey(data: key)
        } else {
            self.key = SymmetricKey(
                data: try await secretStore.secret(named: DataFolder.signingKey) { [identifiers] in
                    identifiers.bytes(32)
                })
        }
    }

    /// Token of the operator API, the same on all servers; nil if this machine alone reaches the server.
    func adminToken(_ configuration: Configuration) async throws -> String? {
        if let token = configuration.adminToken { return token }
        guard !configuration.isLoopback else { return nil }
        let token = try await secretStore.secret(named: DataFolder.adminToken) { [identifiers] in
            Array(identifiers.secret().utf8)
        }
        return String(decoding: token, as: UTF8.self)
    }
}

/// States of data that several servers share: there is one, which no reset replaces.
struct SharedStates: MainStates {
    let emulator: Emulator
    let storage: SharedStorage
    let reserve: StorageReserve

    private struct Rows: WorldStorage {
        let store: Store

        func close(keepingData: Bool) async {
            try? await shieldFromCancellation {
                try await NIOThreadPool.singleton.runIfActive { try? store.close() }
            }
        }
    }

    func first() async throws -> OpenState {
        let data = WorldData(
            store: storage.store, objects: storage.objects, reserve: reserve, key: storage.key,
            secretStore: storage.secretStore, changes: storage.changes,
            identifiers: WorldIdentifiers(emulator.parts.identifiers),
            place: WorldPlace(state: try await storage.store.stateNumber()))
        return OpenState(data: data, storage: Rows(store: storage.store))
    }

    func next() async throws -> OpenState { throw NamespaceProblem.shared }
    func makeValid(_ state: OpenState, number: Int) async throws { throw NamespaceProblem.shared }
    func prepare() {}
    func end() async {}

    func services(of world: World, _ objects: any ObjectStore) -> [any Service] {
        let (store, clock, logger) = (world.runtime.store, world.runtime.clock, emulator.parts.logger)
        return [
            OrphanSweep(store: store, objects: objects, clock: clock.wall, logger: logger),
            HourlySweep(store: store, objects: objects, clock: clock, logger: logger),
            StreamQuestions(
                store: store, streams: world.runtime.sessionStreams, clock: clock.wall, logger: logger),
            SeededClientsWatch(
                store: store, clients: world.authenticator.clients, clock: clock.wall, logger: logger),
            LeaseRenewal(store: store, changes: world.changes, clock: clock.wall, logger: logger),
        ]
    }
}
