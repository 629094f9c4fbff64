import Basics
import DataFolder
import Engines
package import ScribeHTTP
import ScribeStore
package import ServiceLifecycle

/// Opens the storage and composes the emulator with its worlds, without ports.
/// - Parameter authority: The certificate authority that clients must trust, as PEM; nil without one.
/// - Returns: The emulator, all its worlds, and the services that keep them in start order. Services end in reverse
///   order: the first one, which owns the default world, ends last.
/// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
package func open(
    _ given: Configuration, _ parts: Emulator.Parts, authority: String? = nil
) async throws -> (emulator: Emulator, directory: WorldDirectory, services: [any Service]) {
    let composition = Composition(given)
    let startFiles = try StartFiles(given, composition)
    let configuration = given.using(startFiles)
    // These files are read while the data folder is opened, which makes a start an eighth shorter.
    async let readFixtures = Seed.fixtures(overriddenBy: configuration.fixturesFile)
    async let readTemplates = Seed.templates()
    let clientsMark = configuration.clientsFile.flatMap(FileFingerprint.init(path:))
    async let readClients = ConfiguredClients(configuration)
    let data = try await OpenedDataFolder(configuration, parts, secrets: composition.secrets)
    var shared: SharedStorage?
    if let place = configuration.shared {
        shared = try await SharedStorage(place, configuration, parts, composition, data)
    }
    let adminToken = try await configuration.adminToken(
        keptIn: shared?.keys.others ?? data.keys.others, parts.identifiers)
    let clients = try await readClients
    clients.warn(parts.logger)
    let emulator = try await Emulator(
        configuration, parts, composition, adminToken: adminToken, authority: authority,
        fixtures: try await readFixtures, templates: try await readTemplates, configuredClients: clients,
        work: data.folder.workFolder, reserve: data.reserve)
    let storage: MainStorage =
        if let shared {
            .shared(shared)
        } else if configuration.isEphemeral {
            .memory(data.keys)
        } else {
            .folder(SavedStates(emulator, data))
        }
    let main = try await MainWorld(
        emulator, storage, data.folder, from: try await data.importedSnapshot(configuration))
    let namespaces = Namespaces(main, snapshotFolder: data.folder.snapshotFolder)
    main.directory.control = namespaces
    var services = emulator.services(of: main, namespaces, data, clientsMark: clientsMark)
    if let content = startFiles?.content {
        services.append(StartService(content: content, directory: main.directory, applied: emulator.started))
    } else {
        emulator.started.fire()
    }
    return (emulator, main.directory, services)
}

extension Emulator {
    /// The services that keep the worlds of a server, in start order.
    /// - Parameter clientsMark: state of the clients file before its clients were read.
    fileprivate func services(
        of main: MainWorld, _ namespaces: Namespaces, _ data: OpenedDataFolder, clientsMark: FileFingerprint?
    ) -> [any Service] {
        var services: [any Service] = [
            main,
            IdleNamespaces(
                namespaces: namespaces, idleTime: configuration.namespaces.idleTime, clock: parts.clock),
            ClientsFileWatch(
                configuration: configuration, mark: clientsMark, request: parts.clientsFileRequest,
                directory: main.directory, configuredClients: configuredClients, clock: parts.clock,
                threads: data.threads, logger: parts.logger),
        ]
        var probed: [(String, any Engine)] = []
        if configuration.transcriber != .fake { probed.append(("transcriber", engines.transcriber)) }
        if configuration.noteWriter != .rules { probed.append(("note writer", engines.noteWriter)) }
        services += probed.map { EngineProbe(role: $0, engine: $1, clock: parts.clock, logger: parts.logger) }
        return services
    }
}
