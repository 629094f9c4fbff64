import Foundation
import Logging
import NIOPosix
import ScribeDomain
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// Removes the files of uploads that were cut off when the process last ended, folder by folder and beside everything
/// else. What was begun since this start is left alone: its row may be on its way.
struct OrphanSweep: Service, CustomStringConvertible {
    let store: Store
    let objects: ObjectFiles
    let logger: Logger

    /// What the service group logs; the parts would otherwise be spelled out, secrets included.
    var description: String { "OrphanSweep" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            do {
                try await objects.earlierFiles { files in
                    await objects.remove(try await store.unusedFiles(among: files))
                }
            } catch {
                guard !(error is CancellationError) else { return }
                logger.error("files that are left over cannot be removed", metadata: ["error": "\(error)"])
            }
        }
        try? await gracefulShutdown()
    }
}

/// What is forgotten some day, looked at every hour: uploads in parts that nobody has completed for a week, what was
/// delivered a week ago, and what could not be delivered for a month. Then the database gives its free pages back.
struct HourlySweep: Service, CustomStringConvertible {
    let store: Store
    let objects: ObjectFiles
    let clock: WorldClock
    let logger: Logger

    private static let day = 86_400.0

    var description: String { "HourlySweep" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await sweep("abandoned uploads") {
                    await objects.remove(try await store.expireMultipartUploads(at: clock.now))
                }
                await sweep("old deliveries") {
                    let now = clock.now
                    let forgotten = try await store.forgetDeliveries(
                        deliveredBefore: now.addingTimeInterval(-7 * Self.day),
                        failedBefore: now.addingTimeInterval(-30 * Self.day),
                        saidBefore: now.addingTimeInterval(-Self.day))
                    guard forgotten > 0 else { return }
                    logger.warning(
                        "deliveries that failed a month ago are forgotten",
                        metadata: ["count": .stringConvertible(forgotten)])
                }
                await sweep("free pages of the database") {
                    // In pieces of some 50 ms in a database of 1 GB: other writes wait for each.
                    while !Task.isCancelled, try await store.freePages(atMost: 500) > 0 {}
                }
                try? await clock.wall.sleep(for: .seconds(3600), as: .sweep)
            }
        }
        try? await gracefulShutdown()
    }

    private func sweep(_ what: String, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            guard !(error is CancellationError) else { return }
            logger.error("\(what) cannot be removed", metadata: ["error": "\(error)"])
        }
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
        let (store, folder, threads) = (store, folder, threads)
        // A task that was cancelled gets no thread any more.
        try await uncancelled {
            try await threads.runIfActive {
                defer { folder.release() }
                try store.close()
            }
        }
    }
}
