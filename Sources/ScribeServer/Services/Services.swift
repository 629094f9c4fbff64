import Basics
import Foundation
import Logging
import ObjectStorage
import ScribeDomain
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// Removes files without a row, such as uploads that the last stop cut off. Runs in the background after a start, and
/// every day where several processes share the data.
/// Files of this start stay: their rows may not be stored yet.
struct OrphanSweep: Service {
    let store: Store
    let objects: any ObjectStore
    let clock: WallClock
    let logger: Logger

    /// Minimum age of a removed file where several processes share the folder, in seconds: no upload takes a day.
    private static let oldAge = 86_400.0

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await sweep()
            // Where several processes share the data, another one's files are old only later.
            while !store.holder.isAlone, (try? await clock.sleep(for: .seconds(Self.oldAge), as: .sweep)) != nil {
                await sweep()
            }
        }
        try? await gracefulShutdown()
    }

    private func sweep() async {
        do {
            guard try await store.work.holds(.orphans) else { return }
            try await objects.leftFiles(
                before: store.holder.isAlone ? nil : clock.now.addingTimeInterval(-Self.oldAge)
            ) { files in
                await objects.remove(try await store.audio.unusedFiles(among: files))
            }
        } catch {
            guard !(error is CancellationError) else { return }
            logger.error("files that are left over cannot be removed", metadata: ["error": "\(error)"])
        }
    }
}

/// Removes expired rows every hour: multipart uploads after a week, delivered webhooks after a week, failed ones after
/// 30 days. Then shrinks the database by its free pages.
struct HourlySweep: Service {
    let store: Store
    let objects: any ObjectStore
    let clock: WorldClock
    let logger: Logger

    private static let day = 86_400.0

    /// The earlier one of both clocks: nothing is removed because a clock was moved.
    private var now: Date { min(clock.now, clock.wall.now) }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                guard (try? await store.work.holds(.sweep)) == true else {
                    try? await clock.wall.sleep(for: .seconds(3600), as: .sweep)
                    continue
                }
                await sweep("abandoned uploads") {
                    await objects.remove(try await store.audio.expireMultipartUploads(at: now))
                }
                await sweep("objects that were replaced or deleted") {
                    try await objects.sweep(store.audio, at: clock.wall.now)
                }
                await sweep("old deliveries") {
                    let now = now
                    let forgotten = try await store.webhooks.forgetDeliveries(
                        deliveredBefore: now.addingTimeInterval(-7 * Self.day),
                        failedBefore: now.addingTimeInterval(-30 * Self.day),
                        saidBefore: now.addingTimeInterval(-Self.day))
                    guard forgotten > 0 else { return }
                    logger.warning(
                        "deliveries that failed a month ago are forgotten",
                        metadata: ["count": .stringConvertible(forgotten)])
                }
                await sweep("free pages of the database") {
                    // In pieces of some 50 ms for a database of 1 GB, because other writes wait for each piece.
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

/// Renews the leases of this process, and takes over the work of dead processes. Runs only where several processes
/// share the data folder.
struct LeaseRenewal: Service {
    let store: Store
    let objects: any ObjectStore
    let changes: ChangeHub
    let clock: WallClock
    let logger: Logger

    func run() async throws {
        let pause = Duration.seconds(store.holder.lifetime / 3)
        await clock.recurring(every: pause, as: .lease, failure: "leases cannot be renewed", logger) {
            await objects.dropOldCopies(at: clock.now)
            let count = try await store.work.renewLeases()
            if count > 0 { logger.notice("jobs were taken over", metadata: ["count": .stringConvertible(count)]) }
            for lane in try await store.work.freeLanes() { changes.lanes.wake(lane) }
            // Another process may have stored work, and its notification may be lost.
            for kind in Job.Kind.allCases { changes.publish(.work(kind)) }
            for work in TimedWork.allCases { changes.publish(.due(work)) }
        }
    }
}
