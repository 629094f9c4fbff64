import Engines
import Logging
import NIOPosix
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// The world of a data folder, with its services.
package struct OpenWorld: Sendable {
    package let world: World
    /// All worlds of the server, this one first.
    let directory: WorldDirectory
    /// Services of the world in start order. They end in reverse order: the first service ends last.
    let services: [any Service]

    init(world: World, services: [any Service]) {
        self.world = world
        directory = WorldDirectory(main: world)
        self.services = services
    }
}

extension OpenWorld {
    /// Opens the store in a data folder, and registers the configured clients.
    /// - Parameter clientsMark: state of the clients file before its clients were read.
    /// - Throws: ``StartupProblem``, `Store.Problem`, or SQLite's error.
    init(
        of emulator: Emulator, on data: OpenedDataFolder, configuredClients: ConfiguredClients,
        clientsMark: FileFingerprint?
    ) async throws {
        let (configuration, logger) = (emulator.configuration, emulator.parts.logger)
        let changes = ChangeHub()
        let store = try await data.store(
            configuration, transcribesOnArrival: !emulator.engines.transcriber.isInstant, emulator.composition,
            changes)
        if configuredClients.count == 0 {
            logger.warning("no client can log in: name a YAML file with --clients, or ask for --demo-seed")
        }
        let world = try await World.seeded(
            emulator,
            on: WorldData(
                store: store, objects: data.objects, reserve: data.reserve, key: data.key,
                secretStore: data.secretStore, changes: changes), configuredClients)
        self.world = world
        let directory = WorldDirectory(main: world)
        let namespaces = Namespaces(emulator, directory)
        directory.control = namespaces
        self.directory = directory
        let clock = world.runtime.clock
        var services: [any Service] = [StoreClosing(store: store, folder: data.folder, threads: data.threads)]
        services += emulator.services(of: world, objects: data.objects)
        services += [
            namespaces, OrphanSweep(store: store, objects: data.objects, clock: clock.wall, logger: logger),
            HourlySweep(store: store, objects: data.objects, clock: clock, logger: logger),
            ClientsFileWatch(
                configuration: configuration, mark: clientsMark, request: emulator.parts.clientsFileRequest,
                world: world, configuredClients: emulator.configuredClients, threads: data.threads, logger: logger),
        ]
        if !store.holder.isAlone {
            services.append(
                LeaseRenewal(store: store, lanes: changes.lanes, clock: clock.wall, logger: logger))
        }
        if configuration.transcriber != .fake {
            services.append(TranscriberProbe(transcriber: world.runtime.transcriber, clock: clock.wall, logger: logger))
        }
        self.services = services
    }
}
