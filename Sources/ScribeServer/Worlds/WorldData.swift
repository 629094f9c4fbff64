import Crypto
import Engines
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Storage of a world: in a data folder, or in memory with a temporary folder for audio.
struct WorldData: Sendable {
    let store: Store
    let objects: any ObjectStore
    let reserve: StorageReserve
    /// Signs tokens and links.
    let key: SymmetricKey
    let secretStore: any SecretStore
    let changes: ChangeHub
    /// Identifiers that answers show.
    var identifiers: WorldIdentifiers
    var place = WorldPlace()
}

extension World {
    /// Makes a world on its storage, and registers the configured clients.
    /// - Throws: ``StartupProblem``, or the store's error.
    static func seeded(_ emulator: Emulator, on data: WorldData, _ configuredClients: ConfiguredClients) async throws
        -> World
    {
        let (configuration, parts) = (emulator.configuration, emulator.parts)
        let (clock, secrets) = (WorldClock(parts.clock), ClientSecrets(key: data.key))
        let clients = KnownClients(demoPrincipal: try configuredClients.demoPrincipal())
        try await configuredClients.register(in: data.store, secrets, as: clients)
        try await clients.replaceSeeded(with: data.store.seededClients())
        clients.end(logins: try await data.store.endedLogins())
        try await configuredClients.configureWebhooks(
            in: data.store, pauses: configuration.webhookPauses, at: clock.now)
        let world = World(
            runtime: runtime(emulator, data, clock), changes: data.changes,
            authenticator: Authenticator(
                tokens: await AccessTokens(key: data.key, clock: clock, namespace: data.place.namespace),
                mode: configuration.authMode,
                clients: clients),
            credentials: await UploadCredentials(
                key: data.key, clients: clients, mode: configuration.authMode,
                lifetime: configuration.lifetimes.uploadCredentials, identifiers: parts.identifiers, clock: clock,
                place: data.place),
            secrets: secrets, tickets: Tickets(key: data.key, clock: clock, place: data.place),
            secretStore: data.secretStore, place: data.place)
        configuredClients.register(partnersIn: world)
        return world
    }

    /// Makes the use cases that all families share.
    private static func runtime(_ emulator: Emulator, _ data: WorldData, _ clock: WorldClock) -> Runtime {
        let (configuration, engines, store) = (emulator.configuration, emulator.engines, data.store)
        let identifiers = data.identifiers
        let bucket = emulator.composition.bucket
        let fixtureBehaviour = engines.fixtureBehaviour.ofWorld(emulator.worldMemory)
        let transactions = Transactions(
            store: store, templates: emulator.templates, fixtureBehaviour: fixtureBehaviour,
            signals: data.changes.signals,
            identifiers: identifiers, clock: clock)
        let uploads = Uploads(
            store: store, objects: data.objects, reserve: data.reserve, fixtureBehaviour: fixtureBehaviour,
            watchers: emulator.composition.families.flatMap { $0.uploadWatchers(transactions) })
        let metrics = emulator.metrics
        let recordings = LiveRecordings(
            store: store, uploads: uploads, transactions: transactions, memory: emulator.memory, clock: clock)
        return Runtime(
            store: store, reserve: data.reserve, transcriber: engines.transcriber, noteWriter: engines.noteWriter,
            transactions: transactions, fixtureBehaviour: fixtureBehaviour, bucket: bucket,
            sessionAudio: SessionAudio(
                store: store, objects: data.objects,
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
            templates: emulator.templates, facts: engines.facts, signals: data.changes.signals, metrics: metrics,
            identifiers: identifiers, journal: emulator.makeJournal(), memory: emulator.worldMemory, clock: clock)
    }
}
