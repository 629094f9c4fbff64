import Basics
import Crypto
import DataFolder
import NIOPosix
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Storage of a world: rows, audio and keys. The world owns it, and closes it when it ends.
struct WorldStorage: Sendable {
    /// Keys of a world, which a reset keeps.
    struct Keys: Sendable {
        /// Signs tokens and links.
        let signing: SymmetricKey
        let others: any SecretStore

        init(signing: SymmetricKey, others: any SecretStore) {
            self.signing = signing
            self.others = others
        }

        /// Makes new keys, which end with the process.
        init(_ identifiers: IdentifierSource) {
            self.init(
                signing: SymmetricKey(data: identifiers.bytes(32)), others: MemorySecrets(threads: .singleton))
        }
    }

    let store: Store
    let objects: any ObjectStore
    let reserve: StorageReserve
    let keys: Keys
    let changes: ChangeHub
    /// Identifiers that answers show.
    var identifiers: WorldIdentifiers
    var place = WorldPlace()
    /// The state of a data folder; nil for storage in memory or shared storage.
    var state: HeldState?
    /// Removes files once the store is closed; the argument says whether to keep the data. Blocking.
    let remove: @Sendable (_ keepingData: Bool) -> Void

    /// Closes the store and, unless `keepingData` is true, removes the data. A cancelled task does so too. Storage in
    /// memory never keeps data.
    func close(keepingData: Bool) async {
        try? await shieldFromCancellation {
            try await NIOThreadPool.singleton.runIfActive {
                try? store.close()
                remove(keepingData)
            }
        }
    }

    /// Fills empty storage from a snapshot.
    /// - Parameter owner: the namespace's own client; nil for the default world.
    mutating func fill(from snapshot: SnapshotFolder, owner: SnapshotOwner?, of emulator: Emulator) async throws {
        let manifest = try await store.restore(
            snapshot, objects, owner: owner,
            demo: SnapshotOwner(try emulator.configuredClients.withLock { $0 }.demoPrincipal()), on: .singleton)
        identifiers = identifiers.continuing(after: manifest.identifiers)
    }
}
