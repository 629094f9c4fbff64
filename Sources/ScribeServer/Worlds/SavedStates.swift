import Basics
import DataFolder
import Engines
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// States in a data folder. One is kept ready for the next reset.
final class SavedStates: Sendable {
    private let emulator: Emulator
    private let opened: OpenedDataFolder
    private let prepared = LockedValue<Task<WorldStorage, any Error>?>(nil)
    private let template = LockedValue<String?>(nil)

    init(_ emulator: Emulator, _ opened: OpenedDataFolder) {
        self.emulator = emulator
        self.opened = opened
    }

    private var isAllowed: Bool { emulator.configuration.allowsReset }

    func first() async throws -> WorldStorage {
        let changes = ChangeHub()
        let store = try await opened.store(
            emulator.configuration, transcribesOnArrival: !emulator.engines.transcriber.isInstant,
            emulator.composition, changes)
        let state = opened.folder.heldState
        var storage = self.storage(store, state, changes)
        storage.place = WorldPlace(state: try await store.stateNumber())
        return storage
    }

    func next() async throws -> WorldStorage {
        guard isAllowed else { throw NamespaceProblem.persistent }
        prepare()
        let making = prepared.withLock { prepared in
            defer { prepared = nil }
            return prepared
        }
        guard let made = try await making?.value else { throw NamespaceProblem.busy }
        return made
    }

    func makeValid(_ storage: WorldStorage, number: Int) async throws {
        guard let state = storage.state else { throw NamespaceProblem.persistent }
        try await storage.store.setStateNumber(number)
        do {
            try await opened.threads.runIfActive { [opened] in _ = try opened.folder.replaceState(with: state) }
        } catch DataFolder.Problem.backupRuns {
            throw NamespaceProblem.backupRuns
        }
    }

    func prepare() {
        guard isAllowed else { return }
        prepared.withLock { prepared in
            guard prepared == nil else { return }
            // Detached, because the next reset waits for the state, and not the request that asks for it.
            prepared = Task.detached { [self] in try await make() }
        }
    }

    func end() async {
        let making = prepared.withLock { prepared in
            defer { prepared = nil }
            return prepared
        }
        await (try? making?.value)?.close(keepingData: false)
    }

    private func make() async throws -> WorldStorage {
        let (configuration, composition, opened) = (emulator.configuration, emulator.composition, opened)
        let changes = ChangeHub()
        let transcribesOnArrival = !emulator.engines.transcriber.isInstant
        let identifier = emulator.parts.identifiers.uuid()
        return try await opened.threads.runIfActive { [self] in
            let template = try madeTemplate()
            let state = try opened.folder.makeNextState()
            do {
                try FileSystem.copy(template, as: state.databasePath)
                try opened.folder.sync(state)
                let store = try Store(
                    at: .file(state.databasePath, configuration.durability),
                    transcribesOnArrival: transcribesOnArrival, quotas: configuration.quotas,
                    policies: composition.policies, vocabularies: composition.vocabularies,
                    holder: .alone(identifier), sink: changes)
                return storage(store, state, changes)
            } catch {
                opened.folder.remove(state)
                throw error
            }
        }
    }

    /// The database file with the schema and without rows that new states copy, made once. Making the schema each time
    /// would take several times as long. Blocking.
    private func madeTemplate() throws -> String {
        if let made = template.withLock({ $0 }) { return made }
        let made = "\(opened.folder.workFolder)/\(emulator.parts.identifiers.uuid()).sqlite"
        try SQLiteFile.makeSchema(in: made)
        template.withLock { $0 = made }
        return made
    }

    private func storage(_ store: Store, _ state: HeldState, _ changes: ChangeHub) -> WorldStorage {
        WorldStorage(
            store: store, objects: opened.objects(of: state, emulator.configuration), reserve: opened.reserve,
            keys: opened.keys, changes: changes, identifiers: WorldIdentifiers(emulator.parts.identifiers),
            state: state
        ) { [opened] keepingData in
            if !keepingData { opened.folder.remove(state) }
        }
    }
}
