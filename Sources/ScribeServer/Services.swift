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
    let objects: any ObjectStore
    let clock: WallClock
    let logger: Logger

    /// Where other processes write files, in seconds: no upload takes a day.
    private static let oldAge = 86_400.0

    /// What the service group logs; the parts would otherwise be spelled out, secrets included.
    var description: String { "OrphanSweep" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            do {
                guard try await store.holds(.orphans) else { return }
                try await objects.leftFiles(
                    before: store.holder.isAlone ? nil : clock.now.addingTimeInterval(-Self.oldAge)
                ) { files in
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
    let objects: any ObjectStore
    let clock: WorldClock
    let logger: Logger

    private static let day = 86_400.0

    var description: String { "HourlySweep" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                guard (try? await store.holds(.sweep)) == true else {
                    try? await clock.wall.sleep(for: .seconds(3600), as: .sweep)
                    continue
                }
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

/// Renews the leases of this process, and takes over the work of processes that are gone. Only where several work on the
/// same data.
struct LeaseRenewal: Service, CustomStringConvertible {
    let store: Store
    let lanes: DeliveryLanes
    let clock: WallClock
    let logger: Logger

    var description: String { "LeaseRenewal" }

    func run() async throws {
        let pause = Duration.seconds(store.holder.lifetime / 3)
        await cancelWhenGracefulShutdown {
            while (try? await clock.sleep(for: pause, as: .lease)) != nil {
                do {
                    let count = try await store.renewLeases()
                    if count > 0 {
                        logger.notice("jobs were taken over", metadata: ["count": .stringConvertible(count)])
                    }
                    for lane in try await store.freeLanes() { lanes.ring(lane) }
                } catch {
                    guard !(error is CancellationError) else { return }
                    logger.error("leases cannot be renewed", metadata: ["error": "\(error)"])
                }
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
