package import Engines
package import Logging
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// Everything stateful of one emulated cloud: its data, its engines, its APIs, and what goes on in the background. Two of
/// them in one process share nothing.
package struct Backend: Sendable {
    /// What it is made from. Tests hand in others than the machine's own.
    package struct Parts: Sendable {
        package var clock: ScribeClock
        package var identifiers: IdentifierSource
        package var logger: Logger
        /// In place of the one that the configuration names.
        package var transcriber: (any Transcriber)?
        package var noteWriter: (any NoteWriter)?
        package var liveEngine: (any LiveEngine)?
        /// Asks for the clients file to be read again.
        package var clientsFileRequest = ClientsFileRequest()

        package init(
            clock: ScribeClock, identifiers: IdentifierSource, logger: Logger, transcriber: (any Transcriber)? = nil,
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

    /// In the order in which they are asked whose a request is.
    let families: [any Family]
    /// What runs as long as it does. The first one ends last.
    let services: [any Service]
    let metrics: Metrics
    /// The port for TLS, once it is open.
    let tlsPort: LockedValue<Int?>
    /// The memory for what is held for clients.
    let memory: MemoryBudget

    /// Opens the data folder and everything in it, and composes the families on it.
    /// - Parameter authority: what clients are to trust, as PEM.
    /// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
    package init(_ configuration: Configuration, _ parts: Parts, authority: String? = nil) async throws {
        // Read beside the opening of the data, which makes a start an eighth shorter.
        async let readFixtures = Seed.fixtures(overriddenBy: configuration.fixturesFile)
        async let readTemplates = Seed.templates()
        let clientsMark = configuration.clientsFile.flatMap(FileMark.init(path:))
        async let readLogins = Logins(configuration)
        let (clock, logger) = (parts.clock, parts.logger)

        let composition = Composition(configuration, authority: authority)
        tlsPort = composition.tlsPort
        memory = MemoryBudget(limit: configuration.memoryBudget, clock: clock)
        let data = try await OpenData(configuration, parts, secrets: composition.secrets)
        let engines = try Machinery(configuration, parts, fixtures: try await readFixtures, data: data)
        let changes = ChangeHub()
        let store = try await data.store(
            configuration, transcribesOnArrival: !engines.transcriber.isInstant, composition, changes)
        let runtime = Self.runtime(
            configuration, parts, data: data, engines: engines, store: store, templates: try await readTemplates,
            changes: changes, composition, memory: memory)
        metrics = runtime.metrics

        let secrets = ClientSecrets(key: data.key)
        let logins = try await readLogins
        let clients = KnownClients(demoPrincipal: try logins.demoPrincipal())
        logins.register(in: composition.partners)
        try await logins.register(in: store, secrets, as: clients)
        if logins.count == 0 {
            logger.warning("no client can log in: name a YAML file with --clients, or ask for --demo-seed")
        }
        try await logins.configureWebhooks(in: store, pauses: configuration.webhookPauses, at: clock.now)

        let environment = await Self.environment(
            configuration, parts, data: data, runtime: runtime, engine: engines.live, clients: clients,
            secrets: secrets, vendorHosts: composition.vendorHosts, memory: memory)
        var families: [any Family] = []
        var services: [any Service] = [
            StoreClosing(store: store, folder: data.folder, threads: data.threads),
            JobRunner(
                store: store, objects: data.objects, transcriber: engines.transcriber, noteWriter: engines.noteWriter,
                bench: engines.bench, templates: runtime.templates, changes: changes, metrics: metrics, clock: clock,
                policy: configuration.jobs, logger: logger),
            DeliveryRunner(
                store: store, outbound: runtime.outbound, formats: composition.webhookFormats, changes: changes,
                metrics: metrics, clock: clock, logger: logger),
            OrphanSweep(store: store, objects: data.objects, logger: logger),
            ExpiredSessions(store: store, clock: clock, logger: logger),
            HourlySweep(store: store, objects: data.objects, clock: clock, logger: logger),
            ClientsFileWatch(
                configuration: configuration, mark: clientsMark, request: parts.clientsFileRequest, store: store,
                secrets: secrets, clients: clients, partners: composition.partners, clock: clock,
                threads: data.threads, logger: logger),
        ]
        do {
            for contribution in composition.families {
                let composed = try await contribution.compose(in: environment)
                families += composed.families
                services += composed.services
            }
        } catch let problem as UnusableSetting {
            throw StartupProblem.unusableSetting(problem)
        }
        if configuration.transcriber != .fake {
            services.append(TranscriberProbe(transcriber: engines.transcriber, clock: clock, logger: logger))
        }
        self.families = families
        self.services = services
    }

    /// What each family is given.
    private static func environment(
        _ configuration: Configuration, _ parts: Parts, data: OpenData, runtime: Runtime, engine: any LiveEngine,
        clients: KnownClients, secrets: ClientSecrets, vendorHosts: [String], memory: MemoryBudget
    ) async -> FamilyEnvironment {
        let clock = parts.clock
        let proxies = TrustedProxies(configuration.trustedProxies)
        let origin = LinkOrigin(publicURL: configuration.publicURL, proxies: proxies, vendorHosts: vendorHosts)
        return FamilyEnvironment(
            runtime: runtime, engine: engine,
            authenticator: Authenticator(
                tokens: await AccessTokens(key: data.key, clock: clock), mode: configuration.authMode,
                clients: clients),
            credentials: await UploadCredentials(
                key: data.key, clients: clients, mode: configuration.authMode,
                lifetime: configuration.lifetimes.uploadCredentials, identifiers: parts.identifiers, clock: clock),
            secrets: secrets, tickets: Tickets(key: data.key, clock: clock), origin: origin,
            pages: PageOrigins(own: origin, allowed: configuration.webOrigins), proxies: proxies, memory: memory,
            secretFiles: data.secretFiles, logger: parts.logger)
    }

    /// What is done with the data, whichever API asks for it.
    private static func runtime(
        _ configuration: Configuration, _ parts: Parts, data: OpenData, engines: Machinery, store: Store,
        templates: TemplateCatalogue, changes: ChangeHub, _ composition: Composition, memory: MemoryBudget
    ) -> Runtime {
        let (clock, identifiers) = (parts.clock, parts.identifiers)
        let templates = templates.hiding(composition.policies.hiddenTemplates)
        let consultations = Consultations(
            store: store, templates: templates, bench: engines.bench, signals: changes.signals,
            identifiers: identifiers, clock: clock)
        let uploads = Uploads(
            store: store, objects: data.objects, reserve: data.reserve, bench: engines.bench,
            watchers: composition.families.flatMap { $0.uploadWatchers(consultations) })
        let metrics = Metrics()
        let outbound = OutboundClient(
            rules: OutboundRules(allowing: configuration.outboundAllowed, allowsLoopback: configuration.isLoopback),
            trust: configuration.outboundTrust, clock: clock)
        let recordings = LiveRecordings(
            store: store, uploads: uploads, consultations: consultations, memory: memory, clock: clock)
        let streams = SessionStreams(recordings: recordings)
        return Runtime(
            store: store, reserve: data.reserve, transcriber: engines.transcriber, noteWriter: engines.noteWriter,
            consultations: consultations, bench: engines.bench, bucket: composition.bucket,
            sessionAudio: SessionAudio(
                store: store, objects: data.objects,
                combined: CombinedAudio(temporary: engines.temporary, clock: clock, threads: data.threads), clock: clock
            ),
            sessionStreams: streams,
            conversations: Conversations(
                store: store, consultations: consultations, facts: engines.facts, bucket: composition.bucket,
                identifiers: identifiers, clock: clock),
            uploads: uploads,
            recognitions: Recognitions(
                uploads: uploads, objects: data.objects, transcriber: engines.transcriber, decoder: engines.decoder,
                metrics: metrics, clock: clock, threads: data.threads),
            liveRecordings: recordings,
            outbound: outbound,
            webhooks: Webhooks(
                store: store, outbound: outbound, identifiers: identifiers, clock: clock,
                pauses: configuration.webhookPauses, formats: composition.webhookFormats),
            templates: templates, facts: engines.facts, signals: changes.signals, metrics: metrics,
            identifiers: identifiers, clock: clock)
    }
}
