import Crypto
import Foundation
package import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
package import ScribeDomain
import ScribeRuntime
import ScribeStore
import Transcription

/// Makes one server out of its parts. The only place that does; tests call it too, and two servers made here share
/// nothing but the data folder that they would be refused to share.
///
/// - Parameters:
///   - onReady: called with the port when the server accepts connections.
/// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
package func buildApplication(
    configuration: Configuration, clock: ScribeClock, identifiers: IdentifierSource, logger: Logger,
    onReady: @escaping @Sendable (Int) async throws -> Void = { _ in }
) async throws -> some ApplicationProtocol {
    try await assemble(configuration, clock, identifiers, logger, onReady)
}

/// The same with its type, so that tests can look at the routes.
func assemble(
    _ configuration: Configuration, _ clock: ScribeClock, _ identifiers: IdentifierSource, _ logger: Logger,
    _ onReady: @escaping @Sendable (Int) async throws -> Void
) async throws -> Application<RequestLog<CrossOrigin<FamilyResponder>>> {
    if configuration.authMode != .strict, !configuration.isLoopback, !configuration.allowsUnverifiedTokensFromNetwork {
        throw StartupProblem.unverifiedTokensFromNetwork(host: configuration.host, mode: configuration.authMode)
    }
    // Read beside the opening of the data, which makes a start an eighth shorter.
    async let readFixtures = Seed.fixtures(overriddenBy: configuration.fixturesFile)
    async let readTemplates = Seed.templates()
    async let readClients = seededClients(configuration)
    let threads = NIOThreadPool.singleton
    let folder = try await threads.runIfActive { try DataFolder(path: configuration.dataFolder) }
    let reserve = try await threads.runIfActive { StorageReserve(path: folder.reservePath, pool: threads) }
    let objects = ObjectFiles(folder: folder.objectsFolder, durability: configuration.durability, pool: threads)
    async let listedFiles = objects.all()
    let key = SymmetricKey(data: try await signingKey(configuration, folder, identifiers, threads))
    let secrets = ClientSecrets(key: key)
    let fixtures = try await readFixtures
    let makers = TranscriberMaker(
        configuration: configuration, fixtures: fixtures,
        temporary: TemporaryFiles(folder: folder.workFolder, identifiers: identifiers, files: threads), clock: clock,
        threads: threads)
    let transcriber = try makers.make()
    let store = try await threads.runIfActive {
        try Store(
            path: folder.databasePath, durability: configuration.durability,
            transcribesOnArrival: !transcriber.isInstant, quotas: configuration.quotas)
    }
    let logins = try await readClients
    let clients = try await register(logins.known, demo: logins.demo, store, secrets, logger)
    let templates = try await readTemplates
    let signals = ChangeSignals()
    let bell = JobBell()
    let metrics = Metrics()
    let facts = ClinicalFacts(threads: threads)
    let tokens = await AccessTokens(key: key, clock: clock)
    let credentials = await UploadCredentials(
        key: key, clients: clients.admitted(in: configuration.authMode),
        lifetime: configuration.lifetimes.uploadCredentials, identifiers: identifiers, clock: clock
    )

    let starter = TransactionStarter(
        store: store, templates: templates, fixtures: fixtures, fidelity: configuration.fidelity, bell: bell,
        identifiers: identifiers, clock: clock
    )

    let router = Router(context: ScribeContext.self, options: .autoGenerateHeadEndpoints)
    let health = router.group().add(middleware: ErrorRendering(style: EkaErrors()))
    HealthRoutes(
        store: store, reserve: reserve, transcriber: transcriber, signals: signals, metrics: metrics, threads: threads
    ).add(
        to: health)

    let account = router.group().add(middleware: ErrorRendering(style: AccountErrors()))
    AccountRoutes(
        store: store, tokens: tokens, clients: clients, throttle: LoginThrottle(clock: clock), secrets: secrets,
        lifetimes: configuration.lifetimes, identifiers: identifiers,
        clock: clock
    ).add(to: account)
    WhoAmIRoute(store: store).add(
        to: account.group().add(
            middleware: Authentication(tokens: tokens, mode: configuration.authMode, clients: clients)))

    // Rendered inside as well as outside of authentication: inside, the envelope names the business.
    let eka = router.group()
        .add(middleware: ErrorRendering(style: EkaErrors()))
        .add(middleware: Authentication(tokens: tokens, mode: configuration.authMode, clients: clients))
        .add(middleware: ErrorRendering(style: EkaErrors()))
    let uploadFamily = router.group()
        .add(middleware: ErrorRendering(style: FileUploadErrors()))
        .add(middleware: Authentication(tokens: tokens, mode: configuration.authMode, clients: clients))
    FileUploadRoutes(
        credentials: credentials, fidelity: configuration.fidelity, identifiers: identifiers, clock: clock
    ).add(to: uploadFamily)

    let profiles = ClientProfiles(fidelity: configuration.fidelity, overrides: configuration.clientProfiles)
    let templateFamily = router.group()
        .add(middleware: ErrorRendering(style: TemplateErrors()))
        .add(middleware: Authentication(tokens: tokens, mode: configuration.authMode, clients: clients))
    TemplateRoutes(
        store: store, catalogue: templates, profiles: profiles, identifiers: identifiers, clock: clock
    ).add(to: templateFamily)
    SectionRoutes(store: store, catalogue: templates, identifiers: identifiers, clock: clock).add(to: templateFamily)
    TemplateDraftRoute(catalogue: templates).add(to: templateFamily)

    ConfigRoutes(store: store, catalogue: templates, profiles: profiles, clock: clock).add(to: eka)
    FeedbackRoutes(store: store, identifiers: identifiers, clock: clock).add(to: eka)
    CredentialRoutes(credentials: credentials).add(to: eka)
    HistoryRoutes(store: store).add(to: eka)
    TransactionRoutes(
        store: store, starter: starter, fixtures: fixtures, fidelity: configuration.fidelity, signals: signals,
        bell: bell, clock: clock
    ).add(to: eka)
    Version1Routes(
        store: store, objects: objects, starter: starter, facts: facts, identifiers: identifiers, clock: clock
    )
    .add(to: eka)
    ChunkTranscriptRoutes(store: store, signals: signals, bell: bell, clock: clock).add(to: eka)
    SessionRoutes(store: store, facts: facts).add(to: eka)
    DocumentRoutes(store: store, signals: signals, identifiers: identifiers, clock: clock).add(to: eka)
    ConversionRoutes(
        store: store, templates: templates, signals: signals, bell: bell, identifiers: identifiers, clock: clock
    ).add(to: eka)
    ResultRoutes(
        store: store,
        poll: LongPoll(store: store, signals: signals, clock: clock, limit: configuration.longPoll), signals: signals,
        answers: FinishedAnswers(signals: signals), profiles: profiles, clock: clock
    ).add(to: eka)

    let s3 = S3Responder(
        store: store, objects: objects, reserve: reserve, credentials: credentials, starter: starter,
        fixtures: fixtures,
        signals: signals, bell: bell, identifiers: identifiers, clock: clock
    )
    let origins = configuration.allowedOrigins.map { list in
        list.contains("*") ? AllowedOrigins.any : .listed(Set(list.map { $0.lowercased() }))
    }
    let responder = RequestLog(
        next: CrossOrigin(
            next: FamilyResponder(router: router, s3: s3, bodies: BodyBudget(limit: configuration.bodyBudget)),
            allowed: origins ?? (configuration.authMode == .strict ? .listed([]) : .trusted)
        ),
        metrics: metrics, clock: clock
    )
    let runner = JobRunner(
        store: store, objects: objects, transcriber: transcriber, noteWriter: RulesNoteWriter(facts: facts),
        templates: templates,
        signals: signals, bell: bell, metrics: metrics, clock: clock, policy: configuration.jobs, logger: logger
    )
    let limits = configuration.connectionLimits
    let channel = HTTP1Channel.Configuration(
        additionalChannelHandlers: [ConnectionGuardInstaller(limits: limits, metrics: metrics)],
        idleTimeout: TimeAmount(limits.idleTime),
        httpDecoderConfiguration: .init(
            maxHeaderFieldSize: limits.headSize, maxHeaderListSize: limits.headSize,
            maxHeaderFieldCount: limits.fieldCount
        )
    )
    let orphans = try await listedFiles
    return Application(
        responder: responder,
        server: HTTPServerBuilder { responder in
            EventLoopChannel(base: HTTP1Channel(responder: responder, configuration: channel))
        },
        configuration: ApplicationConfiguration(
            address: .hostname(configuration.host, port: configuration.port),
            serverName: "scribe-emulator/\(ScribeVersion.current)",
            availableConnectionsDelegate: .maximum(configuration.connectionLimit, logger: logger)
        ),
        services: [
            StoreClosing(store: store, folder: folder, threads: threads),
            runner,
            OrphanSweep(files: orphans, store: store, objects: objects),
            AbandonedUploads(store: store, objects: objects, clock: clock, logger: logger),
        ],
        onServerRunning: { channel in
            do {
                try await onReady(channel.localAddress?.port ?? configuration.port)
            } catch {
                logger.error("the server is ready, and nobody could be told", metadata: ["error": "\(error)"])
            }
        },
        logger: logger
    )
}

private func signingKey(
    _ configuration: Configuration, _ folder: DataFolder, _ identifiers: IdentifierSource, _ threads: NIOThreadPool
) async throws -> [UInt8] {
    if let key = configuration.signingKey {
        guard key.count >= 32 else { throw StartupProblem.signingKeyTooShort }
        return key
    }
    return try await threads.runIfActive {
        try folder.secret(named: "signing-key") { identifiers.bytes(32) }
    }
}

/// The demo clients, and all that may log in.
private func seededClients(_ configuration: Configuration) throws -> (demo: [Seed.Login], known: [Seed.Login]) {
    let demo = try Seed.demoClients()
    let listed = try configuration.clientsFile.map(Seed.clients(inFile:)) ?? []
    return (demo, (configuration.seedsDemo ? demo : []) + listed)
}

/// Makes the clients known.
private func register(
    _ clients: [Seed.Login], demo: [Seed.Login], _ store: Store, _ secrets: ClientSecrets, _ logger: Logger
) async throws -> KnownClients {
    let hashed = clients.map { ($0.client, secrets.hash(of: $0.secret, of: $0.client.principal.client)) }
    try await store.register(hashed)
    if clients.isEmpty {
        logger.warning("no client can log in: name a YAML file with --clients, or ask for --demo-seed")
    }
    guard let first = demo.first else {
        throw StartupProblem.unreadableSeed(path: "seed/clients.yaml", reason: "has no clients")
    }
    let registrations = hashed.map { client, hash in
        (client.principal.client, KnownClients.Registration(principal: client.principal, secretHash: hash))
    }
    return KnownClients(
        registrations: Dictionary(registrations, uniquingKeysWith: { _, last in last }),
        demoPrincipal: first.client.principal)
}
