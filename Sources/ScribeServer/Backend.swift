import Crypto
import Edge
import Eka
package import Engines
import Foundation
import Listen
package import Logging
import NIOPosix
import S3
package import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle
import Status

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
    /// The memory for bodies that are held as a whole.
    let bodies: BodyBudget
    /// The hosts on which the families' own web pages are.
    let hostSuffixes: [String]

    /// Opens the data folder and everything in it.
    /// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
    package init(_ configuration: Configuration, _ parts: Parts) async throws {
        // Read beside the opening of the data, which makes a start an eighth shorter.
        async let readFixtures = Seed.fixtures(overriddenBy: configuration.fixturesFile)
        async let readTemplates = Seed.templates()
        async let readLogins = Logins(configuration)
        let (clock, identifiers, threads) = (parts.clock, parts.identifiers, NIOThreadPool.singleton)

        // The data.
        let folder = try await threads.runIfActive { try DataFolder(path: configuration.dataFolder) }
        let reserve = try await threads.runIfActive { StorageReserve(path: folder.reservePath, pool: threads) }
        let objects = ObjectFiles(
            folder: folder.objectsFolder, durability: configuration.durability, identifiers: identifiers,
            pool: threads)
        let key = SymmetricKey(data: try await Self.signingKey(configuration, folder, identifiers, threads))

        // The engines.
        let engines = EngineMaker(
            configuration: configuration, fixtures: try await readFixtures,
            temporary: TemporaryFiles(folder: folder.workFolder, identifiers: identifiers, files: threads),
            identifiers: identifiers, clock: clock, threads: threads)
        let transcriber = try parts.transcriber ?? engines.transcriber()
        let facts = ClinicalFacts(threads: threads)
        let noteWriter = engines.guarded(parts.noteWriter ?? RulesNoteWriter(facts: facts))
        let bench = engines.bench()

        // What is done with them.
        let changes = ChangeHub()
        let store = try await threads.runIfActive {
            try Store(
                path: folder.databasePath, durability: configuration.durability,
                transcribesOnArrival: !transcriber.isInstant, quotas: configuration.quotas, sink: changes)
        }
        let templates = try await readTemplates
        let consultations = Consultations(
            store: store, templates: templates, bench: bench, signals: changes.signals, identifiers: identifiers,
            clock: clock)
        let conversations = Conversations(
            store: store, consultations: consultations, facts: facts, identifiers: identifiers, clock: clock)
        let uploads = Uploads(
            store: store, objects: objects, reserve: reserve, bench: bench,
            watchers: [ManifestWatcher(consultations: consultations)])
        let metrics = Metrics()
        let recognitions = Recognitions(
            uploads: uploads, objects: objects, transcriber: transcriber, metrics: metrics, clock: clock,
            threads: threads)
        let runtime = Runtime(
            store: store, consultations: consultations, conversations: conversations, uploads: uploads,
            recognitions: recognitions,
            liveRecordings: LiveRecordings(
                store: store, uploads: uploads, consultations: consultations, clock: clock),
            outbound: OutboundClient(
                rules: OutboundRules(allowing: configuration.outboundAllowed, allowsLoopback: configuration.isLoopback),
                clock: clock),
            templates: templates, facts: facts, signals: changes.signals, metrics: metrics, identifiers: identifiers,
            clock: clock)

        // Who may ask for it, and how.
        let secrets = ClientSecrets(key: key)
        let clients = try await readLogins.register(in: store, secrets, parts.logger)
        let authenticator = Authenticator(
            tokens: await AccessTokens(key: key, clock: clock), mode: configuration.authMode, clients: clients)
        let credentials = await UploadCredentials(
            key: key, clients: clients.admitted(in: configuration.authMode),
            lifetime: configuration.lifetimes.uploadCredentials, identifiers: identifiers, clock: clock)
        let eka = EkaFamily(
            runtime, authenticator: authenticator, credentials: credentials, secrets: secrets,
            settings: .init(
                fidelity: configuration.fidelity, clientProfiles: configuration.clientProfiles,
                longPoll: configuration.longPoll, lifetimes: configuration.lifetimes))
        let firebase = try await Self.firebase(configuration.edge, known: clients, clock)
        let liveEngine = parts.liveEngine ?? engines.liveEngine(transcriber)
        let listen = ListenFamily(
            runtime, engine: liveEngine, authenticator: authenticator,
            settings: configuration.listen)
        families = [
            RoutedFamily(
                StatusFamily(runtime, reserve: reserve, transcriber: transcriber, threads: threads)),
            RoutedFamily(eka),
            RoutedFamily(listen),
            RoutedFamily(
                EdgeFamily(
                    runtime, engine: liveEngine, authenticator: authenticator, firebase: firebase,
                    settings: configuration.edge)),
            S3Family(runtime, credentials: credentials),
        ]
        hostSuffixes = eka.hostSuffixes
        self.metrics = metrics
        bodies = BodyBudget(limit: configuration.bodyBudget)
        services = [
            StoreClosing(store: store, folder: folder, threads: threads),
            JobRunner(
                store: store, objects: objects, transcriber: transcriber, noteWriter: noteWriter, bench: bench,
                templates: templates, changes: changes, metrics: metrics, clock: clock,
                policy: configuration.jobs, logger: parts.logger),
            OrphanSweep(store: store, objects: objects, logger: parts.logger),
            SilentConversations(
                store: store, conversations: conversations, clock: clock,
                interval: min(.seconds(5), configuration.edge.conversationTimeout), logger: parts.logger),
            AbandonedUploads(store: store, objects: objects, clock: clock, logger: parts.logger),
        ]
    }

    private static func firebase(
        _ settings: EdgeFamily.Settings, known clients: KnownClients, _ clock: ScribeClock
    ) async throws -> ForeignTokens? {
        if let client = settings.client, clients.registrations[client] == nil {
            throw StartupProblem.unusableFirebase(reason: "there is no client '\(client.rawValue)'")
        }
        switch (settings.jwks, settings.project) {
        case (nil, nil): return nil
        case (let jwks?, let project?):
            do {
                return try await ForeignTokens(jwks: jwks, project: project, clock: clock)
            } catch let problem as ForeignTokens.UnusableKeys {
                throw StartupProblem.unusableFirebase(reason: problem.description)
            }
        default: throw StartupProblem.unusableFirebase(reason: "edge-jwks-file and edge-project go together")
        }
    }

    private static func signingKey(
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
}
