import Logging
import NIOPosix
import ScribeDomain
import ScribeStore
import ServiceLifecycle

/// Removes the files of uploads that were cut off when the process last ended.
struct OrphanSweep: Service, CustomStringConvertible {
    /// What was in the folder before the server accepted anything: a later file may simply not have its row yet.
    let files: [String]
    let store: Store
    let objects: ObjectFiles

    /// What the service group logs; the parts would otherwise be spelled out, secrets included.
    var description: String { "OrphanSweep" }

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            for start in stride(from: 0, to: files.count, by: 1000) {
                let batch = Array(files[start..<min(start + 1000, files.count)])
                let used = try await store.filesInUse(among: batch)
                await objects.remove(batch.filter { !used.contains($0) })
            }
        }
        try? await gracefulShutdown()
    }
}

/// Removes uploads in parts that nobody has completed for a week.
struct AbandonedUploads: Service, CustomStringConvertible {
    let store: Store
    let objects: ObjectFiles
    let clock: ScribeClock
    let logger: Logger

    var description: String { "AbandonedUploads" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    await objects.remove(try await store.expireMultipartUploads(at: clock.now))
                } catch {
                    logger.error("abandoned uploads cannot be removed", metadata: ["error": "\(error)"])
                }
                try? await clock.sleep(for: .seconds(3600), as: .sweep)
            }
        }
        try? await gracefulShutdown()
    }
}

/// Closes the database after everything that was started after this has stopped.
struct StoreClosing: Service, CustomStringConvertible {
    let store: Store
    /// Held until the end: it keeps other servers away from the data.
    let folder: DataFolder
    let threads: NIOThreadPool

    var description: String { "StoreClosing" }

    func run() async throws {
        try? await gracefulShutdown()
        let (store, folder) = (store, folder)
        try await threads.runIfActive {
            defer { folder.release() }
            try store.close()
        }
    }
}
