import Basics
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// Storage of a new state, before its world is made.
struct OpenState: Sendable {
    var data: WorldData
    let storage: any WorldStorage
}

extension OpenState {
    /// Fills the empty state from a snapshot.
    /// - Parameter owner: the namespace's own client; nil for the default world.
    mutating func fill(from snapshot: SnapshotFolder, owner: SnapshotOwner?, of emulator: Emulator) async throws {
        let manifest = try await data.store.restore(
            snapshot, data.objects, owner: owner,
            demo: SnapshotOwner(try emulator.configuredClients.withLock { $0 }.demoPrincipal()), on: .singleton)
        data.identifiers = data.identifiers.continuing(after: manifest.identifiers)
    }
}

/// States of the default world: the present one, and those that a reset makes.
protocol MainStates: Sendable {
    /// Opens the present state.
    /// - Throws: `Store.Problem`, or SQLite's error.
    func first() async throws -> OpenState

    /// Makes a state without rows.
    /// - Throws: ``NamespaceProblem`` where a reset is not allowed; the error of SQLite or of the file system.
    func next() async throws -> OpenState

    /// Makes a state the valid one, which the next start opens.
    /// - Parameter number: number of the state, which the next start reads.
    /// - Throws: ``NamespaceProblem/backupRuns``, or the error of the file system.
    func makeValid(_ state: OpenState, number: Int) async throws

    /// Makes a state in advance, for the next reset.
    func prepare()

    /// Removes the state that was made in advance.
    func end() async

    /// Services that a world on such a state needs, beside those of all worlds.
    func services(of world: World, _ objects: any ObjectStore) -> [any Service]
}

/// States in memory, which end with the process.
struct MemoryStates: MainStates {
    private let emulator: Emulator
    private let keys: WorldKeys

    init(_ emulator: Emulator, _ data: OpenedDataFolder) {
        self.emulator = emulator
        keys = WorldKeys(signing: data.key, others: data.secretStore)
    }

    func first() async throws -> OpenState { try await next() }

    func next() async throws -> OpenState {
        try await emulator.temporary.makeState(of: emulator, WorldPlace(), keys, emulator.configuration.seedValue)
    }

    func makeValid(_ state: OpenState, number: Int) {}
    func prepare() {}
    func end() async {}

    func services(of world: World, _ objects: any ObjectStore) -> [any Service] {
        [
            HourlySweep(
                store: world.runtime.store, objects: objects, clock: world.runtime.clock,
                logger: emulator.parts.logger)
        ]
    }
}
