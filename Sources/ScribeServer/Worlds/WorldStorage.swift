import Basics
import Foundation
import NIOPosix
import ScribeStore

/// Storage of a world, which ends with the world.
protocol WorldStorage: Sendable {
    /// Closes the store and, unless `keepingData` is true, removes the data. A cancelled task does so too.
    /// ``MemoryStorage`` always removes rows and audio.
    func close(keepingData: Bool) async
}

/// Rows in memory, and audio in a temporary folder.
struct MemoryStorage: WorldStorage {
    let store: Store
    /// The folder with the audio.
    let folder: String

    func close(keepingData: Bool) async {
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

/// Rows and audio in a state of a data folder.
struct StateStorage: WorldStorage {
    let store: Store
    let folder: DataFolder
    let state: HeldState
    let threads: NIOThreadPool

    func close(keepingData: Bool) async {
        try? await shieldFromCancellation {
            try await threads.runIfActive {
                try? store.close()
                if !keepingData { folder.remove(state) }
            }
        }
    }
}
