package import Basics
import Connections
import Crypto
package import Engines
import Journal
package import Logging
package import ObjectStorage
import Outbound
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
package import ScribeStore
import ServiceLifecycle

/// Parts of the server that exist once per process: settings, engines, templates, families with their routers, and the
/// memory budget. An emulator holds no data of a world.
package struct Emulator: Sendable {
    /// Dependencies that tests replace: clock, identifiers, logger and engines.
    package struct Parts: Sendable {
        package var clock: WallClock
        package var identifiers: IdentifierSource
        package var logger: Logger
        /// Memory for small uploads of all worlds.
        let room = ReceivedBytes.Room()
        /// Recogniser in place of the configured one; nil uses the configured one.
        package var transcriber: (any Transcriber)?
        package var noteWriter: (any NoteWriter)?
        package var liveEngine: (any LiveEngine)?
        /// Place of the database of a data folder, by its file.
        package var place: @Sendable (_ file: String, Durability) -> Store.Place = { .file($0, $1) }
        /// Request to read the clients file again.
        package var clientsFileRequest = ClientsFileRequest()

        package init(
            clock: WallClock, identifiers: IdentifierSource, logger: Logger, transcriber: (any Transcriber)? = nil,
            noteWriter: (any NoteWriter)? = nil, liveEngine: (any LiveEngine)? = nil
        ) {
            self.clock = clock
            self.identifiers = identifiers
            self.logger = logger
            self.transcriber = transcriber
            self.noteWriter = noteWriter
            self.liveEngine = liveEngine
        }
    }

    let configuration: Configuration
    let parts: Parts
    let composition: Composition
    let engines: EngineSet
    let templates: TemplateCatalogue
    /// Clients, partners and webhooks that each new world registers.
    let configuredClients: LockedValue<ConfiguredClients>
    let outbound: OutboundClient
    let memory: MemoryBudget
    /// Families in order of precedence: of equally strong claims on a request, the first family wins.
    let families: [any Family]
    private let composed: [ComposedFamily]
    let temporary: TemporaryWorlds
    /// Memory for the rows, fault rules and fixtures of all worlds.
    let worldMemory: WorldMemory
    /// Memory of the journals of all worlds.
    private let journals: JournalBudget
    /// Fires when ``StartFiles`` are applied, if there are any. Ports open then.
    let started = OneShotSignal()
    /// Metrics of the process and of all worlds together.
    let metrics = Metrics()

    /// Makes the engines and composes the families.
    /// - Parameters:
    ///   - adminToken: token of the operator API; nil if the API requires none.
    ///   - authority: the certificate authority that clients must trust, as PEM; nil without one.
    ///   - work: the folder for temporary files of jobs.
    ///   - reserve: the limit of free space on the disk, for all worlds.
    /// - Throws: ``StartupProblem``.
    init(
        _ configuration: Configuration, _ parts: Parts, _ composition: Composition, adminToken: String?,
        authority: String?, fixtures: FixtureSet,
        templates: TemplateCatalogue, configuredClients: ConfiguredClients, work: String, reserve: StorageReserve
    ) async throws {
        self.configuration = configuration
        self.parts = parts
        self.configuredClients = LockedValue(configuredClients)
        self.composition = composition
        self.templates = templates.hiding(composition.policies.hiddenTemplates)
        memory = MemoryBudget(limit: configuration.memoryBudget, clock: parts.clock)
        engines = try EngineSet(configuration, parts, fixtures: fixtures, work: work)
        outbound = OutboundClient(
            rules: OutboundRules(allowing: configuration.outboundAllowed, allowsLoopback: configuration.isLoopback),
            trust: configuration.outboundTrust, clock: parts.clock)
        let proxies = TrustedProxies(configuration.trustedProxies)
        let origin = LinkOrigin(
            publicURL: configuration.publicURL, proxies: proxies, vendorHosts: composition.vendorHosts)
        let environment = FamilyEnvironment(
            engine: engines.live, mode: configuration.authMode, origin: origin,
            pages: PageOrigins(own: origin, allowed: configuration.webOrigins), proxies: proxies, memory: memory,
            sockets: configuration.sockets, outbound: outbound,
            operatorLogins: LoginThrottle(
                clock: parts.clock, secrets: ClientSecrets(key: SymmetricKey(data: parts.identifiers.bytes(32)))),
            adminToken: adminToken, authority: authority,
            uploadPaths: composition.families.lazy.compactMap(\.uploadPaths).first, clock: parts.clock,
            logger: parts.logger)
        var composed: [ComposedFamily] = []
        do {
            for contribution in composition.families {
                composed.append(try await contribution.compose(in: environment))
            }
        } catch let problem as UnusableSetting {
            throw StartupProblem.unusableSetting(problem)
        }
        self.composed = composed
        // Journals of namespaces take a quarter of their memory.
        let journalMemory = configuration.usedJournal.mode == .off ? 0 : configuration.namespaces.memory / 4
        journals = JournalBudget(limit: journalMemory)
        worldMemory = WorldMemory(limit: configuration.namespaces.memory - journalMemory)
        temporary = TemporaryWorlds(folder: "\(work)/worlds", reserve: reserve, memory: worldMemory)
        let isWorker = configuration.shared?.role == .worker
        families = composed.flatMap(\.families).filter { !isWorker || $0.name == "Status" }
    }

    /// Settings of fault rules, which all worlds share.
    var faultSettings: FaultSettings {
        let isOwn = configuration.isLoopback && configuration.authMode != .strict && configuration.shared == nil
        return FaultSettings(
            readsHeader: configuration.readsFaultHeader ?? isOwn,
            held: Places(limit: configuration.connectionLimit / 2))
    }

    /// Makes the journal of a new world; nil if none is kept.
    func makeJournal() -> Journal? {
        let settings = configuration.usedJournal
        return settings.mode == .off ? nil : Journal(settings, in: journals, clock: parts.clock)
    }

    /// Makes the services of a world: jobs, deliveries, timers, and the families' own services.
    func services(of world: World, objects: any ObjectStore) -> [any Service] {
        let (runtime, logger) = (world.runtime, parts.logger)
        let jobs = JobRunner(
            store: runtime.store, objects: objects, transcriber: runtime.transcriber,
            noteWriter: runtime.noteWriter, fixtureBehaviour: runtime.fixtureBehaviour, faults: runtime.faults,
            templates: runtime.templates, changes: world.changes, metrics: runtime.metrics, clock: runtime.clock,
            policy: configuration.jobs, logger: logger)
        return (runtime.store.holder.worksOnJobs ? [jobs] : []) + [
            DeliveryRunner(
                store: runtime.store, outbound: runtime.outbound, formats: composition.webhookFormats,
                faults: runtime.faults, journal: runtime.journal, changes: world.changes, metrics: runtime.metrics,
                clock: runtime.clock, logger: logger),
            ExpiredSessions(store: runtime.store, changes: world.changes, clock: runtime.clock, logger: logger),
        ] + composed.flatMap { $0.services(world) }
    }

    /// Makes the services that the default world needs beside those of all worlds: they tidy its storage, and follow
    /// other servers on the same data.
    func mainServices(of world: World, objects: any ObjectStore) -> [any Service] {
        let (store, clock, logger) = (world.runtime.store, world.runtime.clock, parts.logger)
        let hourly = HourlySweep(store: store, objects: objects, clock: clock, logger: logger)
        if configuration.isEphemeral { return [hourly] }
        var services: [any Service] = [
            OrphanSweep(store: store, objects: objects, clock: clock.wall, logger: logger), hourly,
        ]
        if configuration.shared != nil {
            services += [
                StreamQuestions(
                    store: store, streams: world.runtime.sessionStreams, clock: clock.wall, logger: logger),
                SeededClientsWatch(
                    store: store, clients: world.authenticator.clients, clock: clock.wall, logger: logger),
            ]
        }
        if !store.holder.isAlone {
            services.append(
                LeaseRenewal(
                    store: store, objects: objects, changes: world.changes, clock: clock.wall, logger: logger))
        }
        return services
    }
}
