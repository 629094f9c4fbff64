import Engines
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// What is done with sessions. A session is a transaction that its client talks of in other words: the same row, the same
/// states, the same work.
struct Sessions: Sendable {
    /// What a session is started with.
    struct Draft: Hashable, Sendable {
        var uploadType: UploadType
        var templates: [TemplateID] = []
        var mode = "consultation"
        var model = "pro"
        var languages: [String] = []
        var transcriptLanguage: String?
        var patientDetails: JSONValue?
        var additionalData: JSONValue?
        var version: String?
        var flavour = ""

        init(uploadType: UploadType) { self.uploadType = uploadType }
    }

    /// What there is of a session.
    struct Found: Sendable {
        let transaction: Transaction
        let documents: [ResultDocument]
        /// Whichever documents are asked for.
        let transcript: String?
        /// The names of its audio, in order.
        let files: [String]
        let isExpired: Bool
    }

    private let store: Store
    private let consultations: Consultations
    private let streams: SessionStreams
    private let templates: TemplateCatalogue
    private let bench: TestBench
    private let bucket: String
    private let identifiers: IdentifierSource
    private let clock: WorldClock

    init(_ runtime: Runtime) {
        store = runtime.store
        consultations = runtime.consultations
        streams = runtime.sessionStreams
        templates = runtime.templates
        bench = runtime.bench
        bucket = runtime.bucket
        identifiers = runtime.identifiers
        clock = runtime.clock
    }

    /// Starts one.
    /// - Parameter id: of the client's choice, or nil.
    /// - Throws: as ``Consultations/start(_:_:for:replays:)``.
    func create(_ draft: Draft, as id: TransactionID?, for principal: Principal) async throws -> Transaction {
        let id = id ?? TransactionID("ses_\(Hex.encode(identifiers.bytes(10)))")
        let location = AudioLocation(bucket: bucket, folder: "sessions/\(id)")
        let request = TransactionRequest(
            transfer: draft.uploadType == .single ? .nonVaded : .vaded, mode: draft.mode,
            audioURL: location.url, inputLanguages: draft.languages,
            outputLanguage: draft.transcriptLanguage,
            templates: draft.templates.map { .init(id: $0, type: "custom") }, modelType: draft.model,
            patientDetails: draft.patientDetails, additionalData: draft.additionalData, version: draft.version,
            flavour: draft.flavour, kind: .session, terms: SessionTerms(uploadType: draft.uploadType).stored,
            intake: .arrived)
        _ = try await consultations.start(id, request, for: principal, replays: false)
        let key = Transaction.Key(business: principal.business, id: id)
        let transaction = try await store.requireTransaction(key)
        return transaction
    }

    /// How long a session may be open, in seconds.
    var lifetime: TimeInterval { lifetime(of: .session) }

    /// How long a recording may be open that this API is asked for: as its own kind says, where it says so.
    private func lifetime(of kind: RecordingKind) -> TimeInterval {
        store.policies[kind].lifetime ?? store.policies[.session].lifetime ?? SessionPolicy.usualLifetime
    }

    /// Whether the business can ask for all of these.
    func knows(_ wanted: [TemplateID], of business: BusinessID) async throws -> Bool {
        let others = wanted.filter { !templates.offers($0) }
        guard !others.isEmpty else { return true }
        // Without those that were removed: they still name what was written in them, and write nothing new.
        let own = Set(try await store.templates(of: business).map(\.id))
        return others.allSatisfy(own.contains)
    }

    /// - Throws: ``ScribeError/transactionNotFound``.
    func isEnded(_ key: Transaction.Key) async throws -> Bool {
        let transaction = try await store.requireTransaction(key)
        return !transaction.userStatus.isOpen
    }

    /// The templates that the business can ask for: its own first.
    func templates(
        of business: BusinessID
    ) async throws -> [(id: TemplateID, name: String, description: String)] {
        let own = try await store.templates(of: business).map { ($0.id, $0.title, $0.summary ?? "") }
        return own + templates.templates.map { ($0.id, $0.name, "") }
    }

    /// What there is of a session; when it was ended, as soon as its results are final, or when the wait is over.
    /// - Parameters:
    ///   - limit: how long to wait at most.
    ///   - select: those of the documents that are waited for.
    /// - Throws: ``ScribeError/transactionNotFound``, and what `select` throws.
    func find(
        _ key: Transaction.Key, andAuthored authored: DocumentID? = nil, atMost limit: Duration = .zero,
        until departure: Departure, _ select: ([ResultDocument]) throws -> [ResultDocument]
    ) async throws -> Found {
        let results = try await consultations.results(
            of: key, andAuthored: authored, atMost: limit, until: departure
        ) { results in
            // What is not ended ends by nothing that is waited for here.
            let selected = try select(results.documents)
            return results.transaction.userStatus != .committed || selected.outcome != .inProgress
        }
        return Found(
            transaction: results.transaction, documents: try select(results.documents),
            transcript: results.documents.first { $0.kind == .transcript && $0.status.isUsable }?.value,
            files: try await store.chunkNames(of: results.transaction),
            isExpired: results.transaction.isExpired(
                at: clock.now, lifetime: lifetime(of: results.transaction.request.kind)))
    }

    /// The session takes audio now.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``,
    ///   ``ScribeError/sessionExpired``.
    func requireOpen(_ key: Transaction.Key) async throws -> Transaction {
        let transaction = try await store.requireTransaction(key)
        try Transaction.requireOpenArrival(
            transaction.userStatus, transaction.processingStatus, begun: transaction.createdAt, at: clock.now,
            lifetime: lifetime(of: transaction.request.kind))
        return transaction
    }

    /// Recording is over, and the results are wanted.
    ///
    /// A transaction that was started otherwise is ended just the same.
    /// - Throws: as ``Store/end(_:at:refusing:_:)``; ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``.
    func end(_ key: Transaction.Key) async throws -> EndedRecording {
        // What its sockets still hold was sent before this.
        try? await streams.settle(key)
        let now = clock.now
        return try await store.end(
            key, at: now, refusing: bench.fixtures(refusing: .commit)
        ) { (transaction, audio) throws(ScribeError) in
            try transaction.end(audio.files, at: now, lifetime: lifetime(of: transaction.request.kind))
        }
    }

    /// Changes what was said at the start, or gives the session up.
    /// - Parameter wanted: other templates; they count while the session is open.
    /// - Throws: as ``Consultations/patch(_:_:archivedBy:)``.
    func patch(_ key: Transaction.Key, _ patch: TransactionPatch, templates wanted: [TemplateID]?) async throws {
        var patch = patch
        var documents: [ResultDocument]?
        if let wanted {
            let asked = wanted.map { TransactionRequest.RequestedTemplate(id: $0, type: "custom") }
            patch.templates = asked
            let own = try await store.templates(of: key.business)
            let request = TransactionRequest(transfer: .vaded, templates: asked)
            documents = templates.documents(for: request, custom: own, identifiers: identifiers)
                .filter { $0.kind != .transcript }
        }
        _ = try await consultations.patch(key, patch, documents: documents)
    }

    /// Asks for a further document, each time a new one.
    /// - Returns: the template and the document's id; nil when the session has asked for no template.
    /// - Throws: as ``Consultations/convert(_:to:in:from:addsOne:)``.
    func process(
        _ key: Transaction.Key, _ template: TemplateID?
    ) async throws -> (template: TemplateID, document: DocumentID)? {
        var wanted = template
        if wanted == nil {
            let transaction = try await store.requireTransaction(key)
            wanted = transaction.request.templates.first?.id
        }
        guard let wanted else { return nil }
        return try await consultations.convert(key, to: wanted, in: nil, from: .recording, addsOne: true)
    }
}
