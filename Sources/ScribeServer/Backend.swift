import Alliance
import Control
import Eka
package import Engines
import Listen
package import Logging
import Omi
import S3
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle
import Status
import Suki

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
    let tlsPort = LockedValue<Int?>(nil)
    /// The memory for what is held for clients.
    let memory: MemoryBudget

    /// Opens the data folder and everything in it.
    /// - Parameter authority: what clients are to trust, as PEM.
    /// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
    package init(_ configuration: Configuration, _ parts: Parts, authority: String? = nil) async throws {
        // Read beside the opening of the data, which makes a start an eighth shorter.
        async let readFixtures = Seed.fixtures(overriddenBy: configuration.fixturesFile)
        async let readTemplates = Seed.templates()
        let clientsMark = configuration.clientsFile.flatMap(FileMark.init(path:))
        async let readLogins = Logins(configuration)
        let (clock, logger) = (parts.clock, parts.logger)

        memory = MemoryBudget(limit: configuration.memoryBudget, clock: clock)
        let data = try await OpenData(configuration, parts)
        let engines = try Machinery(configuration, parts, fixtures: try await readFixtures, data: data)
        let changes = ChangeHub()
        let store = try await data.store(configuration, transcribesOnArrival: !engines.transcriber.isInstant, changes)
        let formats: [Webhook.Style: any WebhookFormat] = [
            .connect: ConnectFormat(), .alliance: AllianceFormat(), .suki: SukiFormat(),
        ]
        let runtime = Self.runtime(
            configuration, parts, data: data, engines: engines, store: store, templates: try await readTemplates,
            changes: changes, formats: formats, memory: memory)

        let secrets = ClientSecrets(key: data.key)
        let logins = try await readLogins
        let clients = KnownClients(demoPrincipal: try logins.demoPrincipal())
        let partners = KnownPartners(logins.partners)
        try await logins.register(in: store, secrets, as: clients)
        if logins.count == 0 {
            logger.warning("no client can log in: name a YAML file with --clients, or ask for --demo-seed")
        }
        try await logins.configureWebhooks(in: store, pauses: configuration.webhookPauses, at: clock.now)
        let authenticator = Authenticator(
            tokens: await AccessTokens(key: data.key, clock: clock), mode: configuration.authMode, clients: clients)
        let credentials = await UploadCredentials(
            key: data.key, clients: clients, mode: configuration.authMode,
            lifetime: configuration.lifetimes.uploadCredentials, identifiers: parts.identifiers, clock: clock)
        let firebase = try await Self.firebase(configuration.omi, runtime.outbound, clock)
        let tickets = Tickets(key: data.key, clock: clock)
        let proxies = TrustedProxies(configuration.trustedProxies)
        let origin = LinkOrigin(
            publicURL: configuration.publicURL, proxies: proxies,
            vendorHosts: EkaFamily.hostSuffixes + ListenFamily.hostNames + OmiFamily.hostNames + SukiFamily.hostNames)
        let pages = PageOrigins(own: origin, allowed: configuration.webOrigins)
        let eka = EkaFamily(
            runtime, authenticator: authenticator, credentials: credentials, secrets: secrets, tickets: tickets,
            settings: .init(
                fidelity: configuration.fidelity, clientProfiles: configuration.clientProfiles,
                longPoll: configuration.longPoll, lifetimes: configuration.lifetimes, origin: origin, pages: pages,
                proxies: proxies))
        let objects = S3Family(
            runtime, credentials: credentials, explainsSignatures: configuration.authMode != .strict)
        families = [
            RoutedFamily(
                StatusFamily(
                    runtime, reserve: data.reserve, transcriber: engines.transcriber, noteWriter: engines.noteWriter,
                    build: .init(version: ScribeVersion.current, commit: ScribeVersion.commit), threads: data.threads,
                    authority: authority, memory: memory)),
            RoutedFamily(
                ControlFamily(
                    runtime,
                    settings: .init(
                        token: try await data.adminToken(configuration), host: configuration.host,
                        about: { [tlsPort] in Self.about(configuration, tlsPort) }, proxies: proxies))),
            RoutedFamily(
                AllianceFamily(
                    runtime, authenticator: authenticator, credentials: credentials,
                    tickets: tickets, origin: origin, pages: pages,
                    longPoll: min(configuration.longPoll, .seconds(14)),
                    counts: SocketCounts(
                        most: configuration.listen.sockets,
                        mostOfBusiness: configuration.listen.socketsOfBusiness),
                    streamIdle: configuration.streamIdle, memory: memory)),
            RoutedFamily(eka),
            RoutedFamily(
                ListenFamily(
                    runtime, engine: engines.live, authenticator: authenticator, tickets: tickets, memory: memory,
                    settings: configuration.listen)),
            RoutedFamily(
                OmiFamily(
                    runtime, engine: engines.live, authenticator: authenticator, firebase: firebase,
                    proxies: proxies, memory: memory, settings: configuration.omi)),
            RoutedFamily(
                SukiFamily(
                    runtime,
                    clinicians: Clinicians(
                        tokens: SukiTokens(keyFile: data.ambientKey, clock: clock), partners: partners,
                        clients: clients, mode: configuration.authMode, outbound: runtime.outbound, store: store,
                        queries: runtime.queries, identifiers: parts.identifiers, clock: clock),
                    tickets: tickets, origin: origin,
                    counts: SocketCounts(
                        most: configuration.listen.sockets,
                        mostOfBusiness: configuration.listen.socketsOfBusiness),
                    memory: memory)),
            FrontPage(
                runtime, objects: objects, settings: Self.frontPage(configuration, origin: origin, tlsPort)),
            objects,
        ]
        metrics = runtime.metrics
        var services: [any Service] = [
            StoreClosing(store: store, folder: data.folder, threads: data.threads),
            JobRunner(
                store: store, objects: data.objects, transcriber: engines.transcriber, noteWriter: engines.noteWriter,
                bench: engines.bench, templates: runtime.templates, changes: changes, metrics: metrics, clock: clock,
                policy: configuration.jobs, logger: logger),
            DeliveryRunner(
                store: store, outbound: runtime.outbound, formats: formats, changes: changes, metrics: metrics,
                clock: clock, logger: logger),
            OrphanSweep(store: store, objects: data.objects, logger: logger),
            SilentConversations(
                store: store, conversations: runtime.conversations, clock: clock,
                interval: min(.seconds(5), configuration.omi.conversationTimeout), logger: logger),
            ExpiredSessions(store: store, clock: clock, logger: logger),
            HourlySweep(store: store, objects: data.objects, clock: clock, logger: logger),
            ClientsFileWatch(
                configuration: configuration, mark: clientsMark, request: parts.clientsFileRequest, store: store,
                secrets: secrets, clients: clients, partners: partners, clock: clock, threads: data.threads,
                logger: logger),
        ]
        if configuration.transcriber != .fake {
            services.append(TranscriberProbe(transcriber: engines.transcriber, clock: clock, logger: logger))
        }
        self.services = services
    }

    /// What is done with the data, whichever API asks for it.
    private static func runtime(
        _ configuration: Configuration, _ parts: Parts, data: OpenData, engines: Machinery, store: Store,
        templates: TemplateCatalogue, changes: ChangeHub, formats: [Webhook.Style: any WebhookFormat],
        memory: MemoryBudget
    ) -> Runtime {
        let (clock, identifiers) = (parts.clock, parts.identifiers)
        let consultations = Consultations(
            store: store, templates: templates, bench: engines.bench, signals: changes.signals,
            identifiers: identifiers, clock: clock)
        let uploads = Uploads(
            store: store, objects: data.objects, reserve: data.reserve, bench: engines.bench,
            watchers: [ManifestWatcher(consultations: consultations)])
        let metrics = Metrics()
        let outbound = OutboundClient(
            rules: OutboundRules(allowing: configuration.outboundAllowed, allowsLoopback: configuration.isLoopback),
            trust: configuration.outboundTrust, clock: clock)
        let recordings = LiveRecordings(
            store: store, uploads: uploads, consultations: consultations, memory: memory, clock: clock)
        let streams = SessionStreams(recordings: recordings)
        return Runtime(
            store: store, consultations: consultations,
            sessions: Sessions(
                store: store, consultations: consultations, streams: streams, templates: templates,
                bench: engines.bench, identifiers: identifiers, clock: clock),
            ambientSessions: AmbientSessions(
                store: store, consultations: consultations, streams: streams, uploads: uploads, bench: engines.bench,
                identifiers: identifiers, clock: clock, shortest: configuration.suki.shortest / .seconds(1)),
            sessionAudio: SessionAudio(
                store: store, objects: data.objects,
                combined: CombinedAudio(temporary: engines.temporary, clock: clock, threads: data.threads), clock: clock
            ),
            sessionStreams: streams,
            conversations: Conversations(
                store: store, consultations: consultations, facts: engines.facts, identifiers: identifiers,
                clock: clock),
            uploads: uploads,
            recognitions: Recognitions(
                uploads: uploads, objects: data.objects, transcriber: engines.transcriber, decoder: engines.decoder,
                metrics: metrics, clock: clock, threads: data.threads),
            liveRecordings: recordings,
            outbound: outbound,
            webhooks: Webhooks(
                store: store, outbound: outbound, identifiers: identifiers, clock: clock,
                pauses: configuration.webhookPauses, formats: formats),
            templates: templates, facts: engines.facts, signals: changes.signals, metrics: metrics,
            identifiers: identifiers, clock: clock)
    }

    /// What the server says of itself to operators.
    private static func about(
        _ configuration: Configuration, _ tlsPort: LockedValue<Int?>
    ) -> [String: String] {
        let transcriber =
            switch configuration.transcriber {
            case .fake: "fake"
            case .command: "command"
            case .openAI: "openai"
            case .deepgram: "deepgram"
            }
        var about = [
            "version": ScribeVersion.current, "auth": configuration.authMode.rawValue,
            "durability": configuration.durability.rawValue, "transcriber": transcriber,
            "demo_seed": String(configuration.seedsDemo),
        ]
        about["tls_port"] = tlsPort.withLock { $0 }.map { String($0) }
        return about
    }

    private static func firebase(
        _ settings: OmiFamily.Settings, _ outbound: OutboundClient, _ clock: ScribeClock
    ) async throws -> ForeignTokens? {
        let keys: IssuerKeys
        switch (settings.jwks, settings.jwksURL, settings.project) {
        case (nil, nil, nil): return nil
        case (let set?, nil, _?): keys = .set(set)
        case (nil, let url?, _?): keys = .address(url)
        case (_?, _?, _):
            throw StartupProblem.unusableFirebase(
                reason: "firebase-jwks-file and firebase-jwks-url exclude each other")
        default:
            throw StartupProblem.unusableFirebase(
                reason: "firebase-project goes together with firebase-jwks-url or firebase-jwks-file")
        }
        do {
            return try await ForeignTokens(
                keys, PublishedKeys(outbound: outbound, clock: clock), project: settings.project ?? "", clock: clock)
        } catch let problem as ForeignTokens.UnusableKeys {
            throw StartupProblem.unusableFirebase(reason: problem.description)
        }
    }
}
