import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Source of the default world's storage, at a start and at a reset.
enum MainStorage: Sendable {
    /// Memory, which ends with the process.
    case memory(WorldStorage.Keys)
    /// The states of a data folder.
    case folder(SavedStates)
    /// Data that several servers share, which no reset replaces.
    case shared(SharedStorage)

    /// Opens the present storage.
    /// - Throws: `Store.Problem`, or SQLite's error.
    func first(_ emulator: Emulator) async throws -> WorldStorage {
        switch self {
        case .memory: try await next(emulator)
        case .folder(let states): try await states.first()
        case .shared(let shared): try await shared.opened()
        }
    }

    /// Makes storage without rows.
    /// - Throws: ``NamespaceProblem`` where a reset is not allowed; the error of SQLite or of the file system.
    func next(_ emulator: Emulator) async throws -> WorldStorage {
        switch self {
        case .memory(let keys):
            try await emulator.temporary.makeStorage(
                of: emulator, WorldPlace(), keys, emulator.configuration.seedValue)
        case .folder(let states): try await states.next()
        case .shared: throw NamespaceProblem.shared
        }
    }

    /// Makes storage the valid one, which the next start opens.
    /// - Parameter number: number of the state, which the next start reads.
    /// - Throws: ``NamespaceProblem/backupRuns``, or the error of the file system.
    func makeValid(_ storage: WorldStorage, number: Int) async throws {
        switch self {
        case .memory: break
        case .folder(let states): try await states.makeValid(storage, number: number)
        case .shared: throw NamespaceProblem.shared
        }
    }

    /// Makes storage in advance, for the next reset.
    func prepare() {
        if case .folder(let states) = self { states.prepare() }
    }

    /// Removes the storage that was made in advance.
    func end() async {
        if case .folder(let states) = self { await states.end() }
    }
}
