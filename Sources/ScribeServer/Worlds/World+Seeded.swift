import Eka
import Engines
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

extension World {
    /// Makes a world on its storage, and registers the configured clients.
    /// - Throws: ``StartupProblem``, or the store's error.
    static func seeded(_ emulator: Emulator, on storage: WorldStorage, _ configuredClients: ConfiguredClients)
        async throws
        -> World
    {
        let (configuration, parts) = (emulator.configuration, emulator.parts)
        let (clock, secrets) = (WorldClock(parts.clock), ClientSecrets(key: storage.keys.signing))
        let clients = KnownClients(demoPrincipal: try configuredClients.demoPrincipal())
        try await configuredClients.register(in: storage.store, secrets, as: clients)
        try await clients.replaceSeeded(with: storage.store.transactions.seededClients())
        clients.end(logins: try await storage.store.accounts.endedLogins())
        try await configuredClients.configureWebhooks(
            in: storage.store, pauses: configuration.webhookPauses, at: clock.now)
        let world = World(
            runtime: runtime(emulator, storage, clock), changes: storage.changes,
            authenticator: Authenticator(
                tokens: await AccessTokens(key: storage.keys.signing, clock: clock, namespace: storage.place.namespace),
                mode: configuration.authMode,
                clients: clients),
            credentials: await UploadCredentials(
                key: storage.keys.signing, clients: clients, mode: configuration.authMode,
                lifetime: configuration.eka.lifetimes.uploadCredentials, identifiers: parts.identifiers, clock: clock,
                place: storage.place),
            secrets: secrets, tickets: Tickets(key: storage.keys.signing, clock: clock, place: storage.place),
            secretStore: storage.keys.others, place: storage.place,
            mayMoveClock: storage.place.namespace != nil || configuration.isEphemeral || configuration.allowsReset)
        configuredClients.register(partnersIn: world)
        return world
    }

    /// Makes the use cases that all families share.
    private static func runtime(_ emulator: Emulator, _ storage: WorldStorage, _ clock: WorldClock) -> Runtime {
        let (configuration, engines, store) = (emulator.configuration, emulator.engines, storage.store)
        let identifiers = storage.identifiers
        let bucket = emulator.composition.bucket
        let fixtureBehaviour = engines.fixtureBehaviour.ofWorld(emulator.worldMemory)
        let transactions = Transactions(
            store: store, templates: emulator.templates, fixtureBehaviour: fixtureBehaviour,
            signals: storage.changes.signals,
            identifiers: identifiers, clock: clock)
        let uploads = Uploads(
            store: store, objects: storage.objects, reserve: storage.reserve, fixtureBehaviour: fixtureBehaviour,
            watchers: emulator.composition.families.flatMap { $0.uploadWatchers(transactions) })
        let metrics = emulator.metrics
        let recordings = LiveRecordings(
            store: store, uploads: uploads, transactions: transactions, memory: emulator.memory, clock: clock)
        return Runtime(
            store: store, reserve: storage.reserve, transcriber: engines.transcriber, noteWriter: engines.noteWriter,
            transactions: transactions, fixtureBehaviour: fixtureBehaviour, bucket: bucket,
            sessionAudio: SessionAudio(
                store: store, objects: storage.objects,
                combined: MP3Encoder(temporary: engines.temporary, clock: clock.wall, threads: .singleton),
                clock: clock),
            sessionStreams: SessionStreams(
                recordings: recordings, others: SharedStreams(store, clock: clock.wall)),
            conversations: Conversations(
                store: store, transactions: transactions, facts: engines.facts, bucket: bucket,
                identifiers: identifiers, clock: clock),
            uploads: uploads,
            recognitions: Recognitions(
                uploads: uploads, transcriber: engines.transcriber, decoder: engines.decoder,
                metrics: metrics, clock: clock.wall, threads: .singleton),
            liveRecordings: recordings,
            outbound: emulator.outbound,
            webhooks: Webhooks(
                store: store, outbound: emulator.outbound, identifiers: identifiers, clock: clock,
                pauses: configuration.webhookPauses, formats: emulator.composition.webhookFormats),
            templates: emulator.templates, facts: engines.facts, signals: storage.changes.signals, metrics: metrics,
            identifiers: identifiers, journal: emulator.makeJournal(), memory: emulator.worldMemory, clock: clock)
    }
}
