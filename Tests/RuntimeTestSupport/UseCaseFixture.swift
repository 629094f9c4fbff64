import Basics
import Foundation
import NIOCore
import NIOPosix
import ObjectStorage
import ScribeDomain
import TestSupport
import Testing

@testable import Engines
@testable import Outbound
@testable import ScribeRuntime
@testable import ScribeStore

/// Forwards the store's changes, and keeps the jobs claimed with them: no runner takes them in these tests.
package final class ClaimedJobs: ChangeSink {
    package let hub = ChangeHub()
    private let jobs = LockedValue<[Transaction.Key: Job]>([:])

    package func publish(_ change: Change) {
        if case .claimed(let job) = change { jobs.withLock { $0[job.transaction] = job } }
        hub.publish(change)
    }

    /// The assembly job of a transaction, once.
    package func take(_ key: Transaction.Key) -> Job? { jobs.withLock { $0.removeValue(forKey: key) } }
}

/// Records the keys of kept uploads.
package struct UploadRecord: UploadObserver {
    package let keys = LockedValue<[String]>([])

    package func kept(_ object: StoredObject, by principal: Principal, uploads: Uploads) async {
        keys.withLock { $0.append(object.key) }
    }
}

/// The use cases on a store and files of their own, composed as a backend composes them. No job is done by itself.
package struct UseCaseFixture {
    /// Thrown when an assembly still waits for audio.
    private struct NotReady: Error {}

    package let manual = ManualClock()
    package let identifiers = WorldIdentifiers(.counting())
    package let folder: TemporaryFolder
    package let store: Store
    package let objects: ObjectFiles
    package let changes = ClaimedJobs()
    package let metrics = Metrics()
    package let uploaded = UploadRecord()
    package let templates = TemplateCatalogue([
        Template(id: .init("notes"), name: "Notes", format: .markdown, bucket: .custom, sections: []),
        Template(id: .init("soap"), name: "SOAP", format: .markdown, bucket: .custom, sections: []),
    ])
    package let transactions: Transactions
    package let uploads: Uploads
    package let streams: SessionStreams
    package let sessionAudio: SessionAudio
    package let conversations: Conversations
    package let recognitions: Recognitions
    package let webhooks: Webhooks
    package let runtime: Runtime

    package let owner = Principal(business: .init("b-1"), user: .init("u"), doctor: .init("d"), client: .init("c"))
    /// Another user of the same business.
    package let colleague = Principal(
        business: .init("b-1"), user: .init("u-2"), doctor: .init("d-2"), client: .init("c"))
    /// A user of another business, with the same id.
    package let stranger = Principal(business: .init("b-2"), user: .init("u"), doctor: .init("d"), client: .init("c-2"))

    /// - Parameters:
    ///   - hasRoom: whether the storage reserve can be taken.
    ///   - step: what the recogniser does with every recording.
    ///   - policies: of the kinds of recordings that tests start.
    ///   - formats: of the webhooks that tests register.
    ///   - addresses: where host names lead. `slow.test` never leads anywhere.
    package init(
        quotas: Quotas = Quotas(), hasRoom: Bool = true, hearing step: ScriptedTranscriber.Step = .text("hello there"),
        addresses: [String: String] = [:], policies: [any RecordingPolicy] = [TestSessionPolicy()],
        formats: [any WebhookFormat] = [EventNameFormat(UsualVocabulary()), EventNameFormat(OnceVocabulary())]
    ) throws {
        folder = try TemporaryFolder()
        for name in ["objects", "work"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        }
        let (clock, world) = (manual.clock, manual.world)
        // Each step can be refused, by the fixture `refuse-<step>`.
        let fixtureBehaviour = FixtureBehaviour(
            FixtureSet(
                defaultPassages: [:],
                fixtures: Fixture.Step.allCases.map { Fixture(name: "refuse-\($0.rawValue)", refuses: [$0]) }))
        store = try Store(
            at: TestDatabase.place("\(folder.path)/scribe.sqlite"), transcribesOnArrival: false, quotas: quotas,
            policies: RecordingPolicies(policies), vocabularies: EventVocabularies(formats), sink: changes)
        objects = ObjectFiles(
            folder: "\(folder.path)/objects", durability: .normal, identifiers: identifiers.random, pool: .singleton)
        transactions = Transactions(
            store: store, templates: templates, fixtureBehaviour: fixtureBehaviour, signals: changes.hub.signals,
            identifiers: identifiers,
            clock: world)
        let reserve = StorageReserve(
            path: hasRoom ? "\(folder.path)/reserve" : "\(folder.path)/missing/reserve", pool: .singleton)
        uploads = Uploads(
            store: store, objects: objects, reserve: reserve,
            fixtureBehaviour: fixtureBehaviour, watchers: [uploaded])
        let recordings = LiveRecordings(
            store: store, uploads: uploads, transactions: transactions,
            memory: MemoryBudget(limit: 256 << 20, free: 0, clock: clock), clock: world)
        streams = SessionStreams(recordings: recordings)
        let facts = ClinicalFacts(threads: .singleton)
        let temporary = TemporaryFiles(
            folder: "\(folder.path)/work", identifiers: identifiers.random, files: .singleton)
        sessionAudio = SessionAudio(
            store: store, objects: objects,
            combined: MP3Encoder(temporary: temporary, clock: clock, threads: .singleton), clock: world)
        conversations = Conversations(
            store: store, transactions: transactions, facts: facts, bucket: "bucket", identifiers: identifiers,
            clock: world)
        let transcriber = ScriptedTranscriber(steps: LockedValue([step]), clock: clock)
        recognitions = Recognitions(
            uploads: uploads, transcriber: transcriber,
            decoder: RecordingDecoder(
                concurrency: 1, decodes: false, temporary: temporary, clock: clock, files: .singleton),
            metrics: metrics, clock: clock, threads: .singleton)
        let outbound = OutboundClient(rules: OutboundRules(allowsLoopback: false), clock: clock) { host, _ in
            if host == "slow.test" { try await clock.sleep(for: .seconds(1_000_000), as: .upstream) }
            return addresses[host].flatMap { IPAddress($0) }.map { [$0] } ?? []
        }
        webhooks = Webhooks(
            store: store, outbound: outbound, identifiers: identifiers, clock: world, pauses: [.seconds(10)],
            formats: formats)
        runtime = Runtime(
            store: store, reserve: reserve, transcriber: transcriber, noteWriter: RulesNoteWriter(facts: facts),
            transactions: transactions, fixtureBehaviour: fixtureBehaviour, bucket: "bucket",
            sessionAudio: sessionAudio,
            sessionStreams: streams, conversations: conversations, uploads: uploads, recognitions: recognitions,
            liveRecordings: recordings, outbound: outbound, webhooks: webhooks, templates: templates, facts: facts,
            signals: changes.hub.signals, metrics: metrics, identifiers: identifiers, clock: world)
    }

    // MARK: Transactions

    package func key(_ id: String = "t", of principal: Principal? = nil) -> Transaction.Key {
        Transaction.Key(business: (principal ?? owner).business, id: .init(id))
    }

    /// Where a consultation's chunks are.
    package func location(_ id: String = "t") -> AudioLocation {
        AudioLocation(bucket: "bucket", folder: "260510/\(id)")
    }

    /// - Parameter step: the one that is refused on purpose.
    package func request(
        _ id: String = "t", templates: [String] = [], refusing step: Fixture.Step? = nil
    ) -> TransactionRequest {
        TransactionRequest(
            transfer: .vaded, mode: "consultation", audioURL: location(id).url,
            templates: templates.map { .init(id: .init($0)) },
            additionalData: step.map { .object(["fixture": .string("fixture:refuse-\($0.rawValue)")]) })
    }

    /// Starts a consultation whose audio comes in chunks.
    @discardableResult
    package func start(
        _ id: String = "t", templates: [String] = [], refusing step: Fixture.Step? = nil,
        for principal: Principal? = nil
    ) async throws -> Initialisation {
        try await transactions.start(
            .init(id), request(id, templates: templates, refusing: step), for: principal ?? owner)
    }

    /// Starts a recording whose audio is what has come when it ends.
    @discardableResult
    package func startSession(_ id: String) async throws -> (key: Transaction.Key, location: AudioLocation) {
        _ = try await transactions.start(TransactionID(id), .session(id), for: owner, replays: false)
        return (key(id), AudioLocation(bucket: "bucket", folder: "sessions/\(id)"))
    }

    /// Ends it.
    package func endSession(_ key: Transaction.Key) async throws {
        let now = manual.now
        _ = try await store.transactions.end(key, at: now) { (transaction, audio) throws(ScribeError) in
            try transaction.end(audio.files, at: now, lifetime: TestSessionPolicy.time)
        }
    }

    package func transaction(_ id: String = "t") async throws -> Transaction {
        try #require(try await store.transactions.transaction(key(id)))
    }

    package func documents(_ id: String = "t") async throws -> [ResultDocument] {
        try #require(try await store.transactions.results(of: key(id))).documents
    }

    /// What the assembly of a committed transaction is made from, with its job.
    package func assembly(of key: Transaction.Key) async throws -> (job: Job, input: AssemblyInput) {
        var job = changes.take(key)
        if job == nil, case .jobs(let jobs) = try await store.work.claimJobs(.assemble, upTo: 10, at: manual.now) {
            job = jobs.first { $0.transaction == key }
        }
        let found = try #require(job)
        guard case .ready(let input) = try await store.work.planAssembly(found, objectWait: 0, at: manual.now) else {
            throw NotReady()
        }
        return (found, input)
    }

    /// Ends the processing of a committed transaction.
    /// - Parameter values: what documents say, by their templates.
    package func finish(
        _ key: Transaction.Key, _ outcome: Transaction.ProcessingStatus = .success, values: [String: String] = [:]
    ) async throws {
        let (job, input) = try await assembly(of: key)
        let documents = input.documents.map { document in
            var document = document
            document.status = outcome == .success ? .success : .failure
            document.value = values[document.templateID.rawValue] ?? document.name
            document.errors = outcome == .success ? [] : [Diagnostic(.noAudio, "no audio")]
            return document
        }
        try await store.work.finish(job, for: input, documents: documents, outcome: outcome, at: manual.now)
    }

    // MARK: Files

    /// The files of uploads, whether anything refers to them or not.
    package func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(folder.path)/objects").filter { $0.contains("/") }
    }

    /// Writes a file, which `body` keeps.
    package func write<Value>(
        _ content: Data = TestAudio.wav(seconds: 1),
        _ body: (inout NewObject, (file: String, size: Int)) async throws -> Value
    ) async throws -> Value {
        try await uploads.receive(for: owner.business) { file in
            try await file.write(ByteBuffer(bytes: content))
            let size = try await file.finish().size
            return try await body(&file, (file.name, size))
        }
    }

    /// Stores an object.
    package func keep(
        _ key: String, _ content: Data = TestAudio.wav(seconds: 1), eTag: Character = "a",
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void = { _ in }
    ) async throws -> StoredObject {
        try await write(content) { file, written in
            let object = object(key, written, eTag: eTag)
            try await uploads.keep(&file, as: object, for: owner, replacing: permitReplacing)
            return object
        }
    }

    package func object(_ key: String, _ written: (file: String, size: Int), eTag: Character = "a") -> StoredObject {
        StoredObject(
            bucket: "bucket", key: key, file: written.file, size: written.size,
            eTag: String(repeating: eTag, count: 32), createdAt: manual.now)
    }

    /// Uploads a file of a consultation or a session.
    package func upload(
        _ name: String, _ content: Data = TestAudio.wav(seconds: 1), to location: AudioLocation? = nil,
        isChunk: Bool = false
    ) async throws {
        let place = location ?? self.location()
        try await write(content) { file, written in
            let object = StoredObject(
                bucket: place.bucket, key: place.key(ofFile: name), file: written.file, size: written.size,
                eTag: String(repeating: "a", count: 32), createdAt: manual.now)
            try await uploads.keep(&file, as: object, for: owner, isChunk: isChunk)
        }
    }
}

/// A message body of the event's name and the transaction's id.
package struct EventNameFormat: WebhookFormat {
    package let signatureHeader = "x-signature"
    package let timeLimit = Duration.seconds(10)
    private let vocabulary: any EventVocabulary

    package init(_ vocabulary: any EventVocabulary) { self.vocabulary = vocabulary }

    package var style: Webhook.Style { vocabulary.style }
    package var requiresUniqueEndpoint: Bool { vocabulary.requiresUniqueEndpoint }

    package func name(of event: SessionEvent) -> String? { vocabulary.name(of: event) }

    package func body(
        of event: SessionEvent, in session: TransactionID, _ detail: JSONValue?, for webhook: Webhook, at time: Date
    ) -> Data { Data("\(event.rawValue) \(session)".utf8) }
}

/// Runs `body` several times concurrently.
/// - Returns: the values and the domain's errors, in no order.
package func atOnce<Value: Sendable>(
    _ count: Int = 8, _ body: @escaping @Sendable () async throws -> Value
) async -> (values: [Value], failures: [ScribeError]) {
    await withTaskGroup(of: Result<Value, any Error>.self) { group in
        for _ in 0..<count {
            group.addTask {
                do {
                    return .success(try await body())
                } catch {
                    return .failure(error)
                }
            }
        }
        var (values, failures): ([Value], [ScribeError]) = ([], [])
        for await result in group {
            switch result {
            case .success(let value): values.append(value)
            case .failure(let error as ScribeError): failures.append(error)
            case .failure(let error): Issue.record(error)
            }
        }
        return (values, failures)
    }
}
