import Basics
package import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// The worlds of a server, with the services that keep them.
package struct OpenWorlds: Sendable {
    /// All worlds of the server.
    package let directory: WorldDirectory
    /// Services in start order. They end in reverse order: the first service ends last.
    let services: [any Service]

    /// The default world.
    package var world: World { directory.main }

    init(world: World, services: [any Service]) {
        directory = WorldDirectory(main: world)
        self.services = services
    }
}

extension OpenWorlds {
    /// Opens the default world, and registers the configured clients.
    /// - Parameters:
    ///   - shared: data that other servers share; nil for data in the folder.
    ///   - clientsMark: state of the clients file before its clients were read.
    /// - Throws: ``StartupProblem``, `Store.Problem`, or SQLite's error.
    init(
        of emulator: Emulator, on data: OpenedDataFolder, shared: SharedStorage?, clientsMark: FileFingerprint?
    ) async throws {
        let (configuration, logger) = (emulator.configuration, emulator.parts.logger)
        emulator.configuredClients.withLock { $0 }.warn(logger)
        let states: any MainStates =
            if let shared {
                SharedStates(emulator: emulator, storage: shared, reserve: data.reserve)
            } else if configuration.isEphemeral {
                MemoryStates(emulator, data)
            } else {
                SavedStates(emulator, data)
            }
        let main = try await MainWorld(
            emulator, states, data.folder, from: try await data.importedSnapshot(configuration))
        let namespaces = Namespaces(emulator, main, snapshotFolder: data.folder.snapshotFolder)
        directory = main.directory
        directory.control = namespaces
        var services: [any Service] = [
            main, namespaces,
            ClientsFileWatch(
                configuration: configuration, mark: clientsMark, request: emulator.parts.clientsFileRequest,
                directory: directory, configuredClients: emulator.configuredClients, clock: emulator.parts.clock,
                threads: data.threads, logger: logger),
        ]
        if configuration.transcriber != .fake {
            services.append(
                TranscriberProbe(
                    transcriber: emulator.engines.transcriber, clock: emulator.parts.clock, logger: logger))
        }
        self.services = services
    }
}
