import Engines
import Logging
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

/// A world on a data folder: opened, seeded, and with what runs for it.
package struct OpenWorld: Sendable {
    package let world: World
    /// What runs as long as it does. The first one ends last.
    let services: [any Service]

    /// Opens the store in a data folder, and makes known who may log in.
    /// - Throws: ``StartupProblem``, `Store.Problem`, or what SQLite says.
    init(
        of emulator: Emulator, on data: OpenData, logins: Logins, clientsMark: FileMark?
    ) async throws {
        let (configuration, parts, composition) = (emulator.configuration, emulator.parts, emulator.composition)
        let changes = ChangeHub()
        let store = try await data.store(
            configuration, transcribesOnArrival: !emulator.engines.transcriber.isInstant, composition, changes)
        let runtime = Self.runtime(emulator, data, store, changes)
        let (clock, secrets) = (parts.clock, ClientSecrets(key: data.key))
        let clients = KnownClients(demoPrincipal: try logins.demoPrincipal())
        logins.register(in: composition.partners)
        try await logins.register(in: store, secrets, as: clients)
        if logins.count == 0 {
            parts.logger.warning("no client can log in: name a YAML file with --clients, or ask for --demo-seed")
        }
        try await logins.configureWebhooks(in: store, pauses: configuration.webhookPauses, at: clock.now)
        world = World(
            runtime: runtime,
            authenticator: Authenticator(
                tokens: await AccessTokens(key: data.key, clock: clock), mode: configuration.authMode,
                clients: clients),
            credentials: await UploadCredentials(
                key: data.key, clients: clients, mode: configuration.authMode,
                lifetime: configuration.lifetimes.uploadCredentials, identifiers: parts.identifiers, clock: clock),
            secrets: secrets, tickets: Tickets(key: data.key, clock: clock), secretFiles: data.secretFiles)
        services =
            Self.services(emulator, data, runtime, changes)
            + [
                ClientsFileWatch(
                    configuration: configuration, mark: clientsMark, request: parts.clientsFileRequest, store: store,
                    secrets: secrets, clients: clients, partners: composition.partners, clock: clock,
                    threads: data.threads, logger: parts.logger)
            ] + emulator.services(of: world)
    }

    /// What is done with the data, whichever API asks for it.
    private static func runtime(
        _ emulator: Emulator, _ data: OpenData, _ store: Store, _ changes: ChangeHub
    ) -> Runtime {
        let (configuration, engines) = (emulator.configuration, emulator.engines)
        let (clock, identifiers) = (emulator.parts.clock, emulator.parts.identifiers)
        let bucket = emulator.composition.bucket
        let consultations = Consultations(
            store: store, templates: emulator.templates, bench: engines.bench, signals: changes.signals,
            identifiers: identifiers, clock: clock)
        let uploads = Uploads(
            store: store, objects: data.objects, reserve: data.reserve, bench: engines.bench,
            watchers: emulator.composition.families.flatMap { $0.uploadWatchers(consultations) })
        let metrics = Metrics()
        let recordings = LiveRecordings(
            store: store, uploads: uploads, consultations: consultations, memory: emulator.memory, clock: clock)
        return Runtime(
            store: store, reserve: data.reserve, transcriber: engines.transcriber, noteWriter: engines.noteWriter,
            consultations: consultations, bench: engines.bench, bucket: bucket,
            sessionAudio: SessionAudio(
                store: store, objects: data.objects,
                combined: CombinedAudio(temporary: engines.temporary, clock: clock, threads: data.threads),
                clock: clock),
            sessionStreams: SessionStreams(recordings: recordings),
            conversations: Conversations(
                store: store, consultations: consultations, facts: engines.facts, bucket: bucket,
                identifiers: identifiers, clock: clock),
            uploads: uploads,
            recognitions: Recognitions(
                uploads: uploads, objects: data.objects, transcriber: engines.transcriber, decoder: engines.decoder,
                metrics: metrics, clock: clock, threads: data.threads),
            liveRecordings: recordings,
            outbound: emulator.outbound,
            webhooks: Webhooks(
                store: store, outbound: emulator.outbound, identifiers: identifiers, clock: clock,
                pauses: configuration.webhookPauses, formats: emulator.composition.webhookFormats),
            templates: emulator.templates, facts: engines.facts, signals: changes.signals, metrics: metrics,
            identifiers: identifiers, clock: clock)
    }

    private static func services(
        _ emulator: Emulator, _ data: OpenData, _ runtime: Runtime, _ changes: ChangeHub
    ) -> [any Service] {
        let (store, clock, logger) = (runtime.store, runtime.clock, emulator.parts.logger)
        var services: [any Service] = [
            StoreClosing(store: store, folder: data.folder, threads: data.threads),
            JobRunner(
                store: store, objects: data.objects, transcriber: runtime.transcriber, noteWriter: runtime.noteWriter,
                bench: runtime.bench, templates: runtime.templates, changes: changes, metrics: runtime.metrics,
                clock: clock, policy: emulator.configuration.jobs, logger: logger),
            DeliveryRunner(
                store: store, outbound: runtime.outbound, formats: emulator.composition.webhookFormats,
                changes: changes, metrics: runtime.metrics, clock: clock, logger: logger),
            OrphanSweep(store: store, objects: data.objects, logger: logger),
            ExpiredSessions(store: store, clock: clock, logger: logger),
            HourlySweep(store: store, objects: data.objects, clock: clock, logger: logger),
        ]
        if emulator.configuration.transcriber != .fake {
            services.append(TranscriberProbe(transcriber: runtime.transcriber, clock: clock, logger: logger))
        }
        return services
    }
}
