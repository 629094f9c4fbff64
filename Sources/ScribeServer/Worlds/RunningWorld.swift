import Basics
import Logging
package import ScribeHTTP
import ScribeStore
import ServiceLifecycle

/// A world with its storage and its running services. Closing the world ends both.
package final class RunningWorld: Sendable {
    private enum Phase {
        case made
        case running(Task<Void, Never>)
        case closed
    }

    package let world: World
    let storage: WorldStorage
    private let group: ServiceGroup
    private let phase = LockedValue(Phase.made)

    /// - Parameter services: in start order; they end in reverse order.
    init(_ world: World, on storage: WorldStorage, services: [any Service], logger: Logger) {
        self.world = world
        self.storage = storage
        group = ServiceGroup(configuration: .init(services: services.map(NamedService.init(of:)), logger: logger))
    }

    /// Starts the services. Once.
    func start() {
        phase.withLock { phase in
            guard case .made = phase else { return }
            // Detached, because a task of a request ends with the HTTP server.
            phase = .running(Task.detached { [group] in try? await group.run() })
        }
    }

    /// Ends the services in order, and closes the storage. A data folder keeps its data.
    func stop() async {
        if case .running(let task) = takePhase() {
            await withTaskCancellationHandler {
                await group.triggerGracefulShutdown()
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
        await storage.close(keepingData: true)
    }

    /// Cuts off the services, closes the world and removes its data. Writes in progress end first, later ones are
    /// refused. Repeatable.
    package func close() async {
        guard await endServices() else { return }
        await storage.close(keepingData: false)
    }

    /// Cuts off the services, ends the world's held polls and sockets, waits until its requests have ended, and closes
    /// the world.
    /// - Parameter limit: the longest wait for the requests.
    func close(within limit: Duration, _ clock: WallClock) async {
        guard await endServices() else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [world] in await world.use.whenIdle() }
            group.addTask { try? await clock.sleep(for: limit, as: .namespaces) }
            await group.next()
            group.cancelAll()
        }
        await storage.close(keepingData: false)
    }

    /// Ends held polls and sockets, and cuts off the services.
    /// - Returns: false if the world was closed before.
    private func endServices() async -> Bool {
        switch takePhase() {
        case .closed: return false
        case .made: world.endConnections()
        case .running(let task):
            world.endConnections()
            task.cancel()
            await task.value
        }
        return true
    }

    private func takePhase() -> Phase {
        phase.withLock { phase in
            defer { phase = .closed }
            return phase
        }
    }
}
