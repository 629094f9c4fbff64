import Basics
import Foundation
import ServiceLifecycle

/// Removes idle namespaces until the server stops, then all others.
struct IdleNamespaces: Service {
    let namespaces: Namespaces
    /// Time without request and socket after which a namespace is removed.
    let idleTime: Duration
    let clock: WallClock

    /// Longest time between two searches.
    private static let longestPause: Duration = .seconds(60)

    func run() async throws {
        await namespaces.removeLeftovers()
        await cancelWhenGracefulShutdown {
            while (try? await clock.sleep(for: min(idleTime / 4, Self.longestPause), as: .namespaces)) != nil {
                namespaces.remove(unusedSince: clock.now.addingTimeInterval(-(idleTime / .seconds(1))))
            }
        }
        try await shieldFromCancellation { await namespaces.closeAll() }
    }
}
