import Engines
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// What is done with ambient sessions. One is a transaction whose audio comes over sockets, in stretches that may come
/// late, twice, or out of order, and whose note has the sections that its client has asked for (suki.md 3, 5, 8).
struct AmbientSessions: Sendable {
    /// What a session is started with.
    struct Draft: Hashable, Sendable {
        /// Of the client's choice, or nil.
        var id: TransactionID?
        /// The visit; nil for one of its own.
        var encounter: String?
        var context = AmbientContext.empty
        /// That are spoken; empty where any may be.
        var languages: [String] = []

        init() {}
    }

    /// A stretch of a session's audio on its way.
    struct Segment: Sendable {
        let id: String
        let stream: LiveRecording
    }

    private let store: Store
    private let consultations: Consultations
    private let streams: SessionStreams
    private let bench: TestBench
    private let uploads: Uploads
    private let bucket: String
    private let identifiers: IdentifierSource
    private let clock: WorldClock
    private let shortest: TimeInterval

    /// - Parameter shortest: what is shorter is made nothing of, in seconds.
    init(_ runtime: Runtime, shortest: TimeInterval) {
        store = runtime.store
        consultations = runtime.consultations
        streams = runtime.sessionStreams
        bench = runtime.bench
        uploads = runtime.uploads
        bucket = runtime.bucket
        identifiers = runtime.identifiers
        clock = runtime.clock
        self.shortest = shortest
    }

    /// How long a session may be open, in seconds.
    private var lifetime: TimeInterval? { store.policies[.ambient].lifetime }

    /// Where a session's audio is.
    func location(of id: TransactionID) -> AudioLocation { AudioLocation(bucket: bucket, folder: "sessions/\(id)") }

    var now: Date { clock.now }

    /// Starts one. The same again, from a client that did not get the answer, is answered like the first.
    /// - Throws: as ``Consultations/start(_:_:for:replays:)``.
    func create(_ draft: Draft, for principal: Principal) async throws -> TransactionID {
        let id = draft.id ?? TransactionID(identifiers.uuid())
        let encounter = draft.encounter ?? identifiers.uuid()
        var terms = AmbientTerms(encounter: encounter)
        terms.context = draft.context
        let request = TransactionRequest(
            transfer: .vaded, mode: "ambient", audioURL: location(of: id).url,
            inputLanguages: draft.languages, templates: [.init(id: AmbientTerms.template)],
            patientDetails: .object(["visit_id": .string(encounter)]), flavour: "suki", kind: .ambient,
            terms: terms.stored, intake: .segments)
        do {
            _ = try await consultations.start(id, request, for: principal, replays: false)
        } catch ScribeError.transactionAlreadyInitialized {
            let key = Transaction.Key(business: principal.business, id: id)
            guard let known = try await store.transaction(key),
                let terms = try? known.requireAmbient(of: principal.user),
                (try? known.requireOpenSegments(at: clock.now, lifetime: lifetime)) != nil,
                draft.encounter == nil || draft.encounter == terms.encounter
            else { throw ScribeError.transactionAlreadyInitialized }
        }
        return id
    }

    /// - Throws: ``ScribeError/transactionNotFound``, also for another clinician's.
    func find(_ id: TransactionID, of principal: Principal) async throws -> Transaction {
        let key = Transaction.Key(business: principal.business, id: id)
        let transaction = try await store.requireTransaction(key)
        _ = try transaction.requireAmbient(of: principal.user)
        return transaction
    }

    func status(of transaction: Transaction) -> AmbientStatus {
        transaction.ambientStatus(at: clock.now, lifetime: lifetime) ?? .failed
    }

    /// The same, of one that takes audio and context now.
    /// - Throws: as ``find(_:of:)``; ``ScribeError/transactionCancelled``, ``ScribeError/sessionEnded``,
    ///   ``ScribeError/sessionExpired``.
    func requireOpen(_ id: TransactionID, of principal: Principal) async throws -> Transaction {
        let transaction = try await find(id, of: principal)
        try transaction.requireOpenSegments(at: clock.now, lifetime: lifetime)
        return transaction
    }

    /// Sets what is known of the visit: all of it anew, or what is sent.
    /// - Returns: all of it.
    /// - Throws: as ``requireOpen(_:of:)``; ``ScribeError/invalidRequest(field:problem:)``, and nothing has changed then.
    func setContext(
        _ body: JSONValue, merging: Bool, of id: TransactionID, for principal: Principal
    ) async throws -> AmbientContext {
        // Before it is anybody's turn to write.
        let change = try AmbientContext.Change(body, today: clock.now)
        let transaction = try await update(id, of: principal) { transaction, _ throws(ScribeError) in
            let before = merging ? try transaction.requireAmbient(of: principal.user).context : .empty
            let context = before.merged(with: change)
            try Limits.require(context.json, within: Limits.context, "the context")
            return transaction.setContext(context)
        }
        return transaction.ambientTerms?.context ?? .empty
    }

    /// A socket is to be opened for it.
    /// - Throws: as ``requireOpen(_:of:)``; ``ScribeError/refusedOnPurpose``.
    func connect(_ id: TransactionID, of principal: Principal) async throws {
        try bench.permit(.upload, try await requireOpen(id, of: principal).request.fixture)
        try await advance(id, to: .ready, of: principal)
    }

    /// Its recording has come that far.
    /// - Throws: as ``requireOpen(_:of:)``.
    func advance(_ id: TransactionID, to stage: AmbientTerms.Stage, of principal: Principal) async throws {
        _ = try await update(id, of: principal) { transaction, _ in transaction.advance(to: stage) }
    }

    /// Begins a stretch of its audio.
    /// - Parameter time: when it was spoken, by its client's clock.
    /// - Throws: as ``requireOpen(_:of:)``; ``ScribeError/invalidRequest(field:problem:)`` for too many.
    func record(
        from time: Date, in id: TransactionID, of principal: Principal
    ) async throws -> Segment {
        let segment = try await receive(in: id, of: principal)
        let key = Transaction.Key(business: principal.business, id: id)
        try await store.beginSegment(segment.id, startedAt: time, of: key, called: "START_TIME", at: clock.now)
        return segment
    }

    /// Begins a stretch that counts once it is there as a whole, and is kept by ``keep(_:from:in:of:)``.
    /// - Throws: as ``requireOpen(_:of:)``.
    func receive(in id: TransactionID, of principal: Principal) async throws -> Segment {
        _ = try await requireOpen(id, of: principal)
        let recording = ULID.text(at: clock.now, identifiers.bytes(10))
        return Segment(
            id: recording, stream: try await streams.begin(id, .init(), segment: recording, for: principal))
    }

    /// - Throws: as ``record(from:in:of:)``.
    func keep(
        _ segment: Segment, from time: Date, in id: TransactionID, of principal: Principal
    ) async throws {
        try await end(segment, of: id, for: principal)
        let key = Transaction.Key(business: principal.business, id: id)
        try await store.beginSegment(segment.id, startedAt: time, of: key, called: "START_TIME", at: clock.now)
    }

    /// A stretch of its audio is over.
    /// - Throws: as ``LiveRecording/breakOff()``.
    func end(_ segment: Segment, of id: TransactionID, for principal: Principal) async throws {
        defer { streams.end(segment.stream, of: Transaction.Key(business: principal.business, id: id)) }
        try await uncancelled { try await segment.stream.breakOff() }
    }

    /// A stretch of its audio does not count, and goes.
    func discard(_ segment: Segment, of id: TransactionID, for principal: Principal) async {
        let key = Transaction.Key(business: principal.business, id: id)
        streams.end(segment.stream, of: key)
        try? await uncancelled {
            await uploads.remove(try await store.removeSegment(segment.id, of: key))
        }
    }

    /// Recording is over, and the note is wanted. Repeatable.
    /// - Throws: as ``find(_:of:)``; ``ScribeError/transactionCancelled``, ``ScribeError/sessionExpired``,
    ///   ``ScribeError/refusedOnPurpose``.
    func end(_ id: TransactionID, of principal: Principal) async throws {
        let transaction = try await find(id, of: principal)
        guard transaction.userStatus != .committed else { return }
        try transaction.requireOpenSegments(at: clock.now, lifetime: lifetime)
        try await streams.settle(transaction.key)
        let narrative = try await Self.narrativeSections(
            in: store.preferences(of: principal.user, in: principal.business))
        let now = clock.now
        _ = try await store.end(
            transaction.key, at: now, refusing: bench.fixtures(refusing: .commit)
        ) { [shortest] (transaction, audio) throws(ScribeError) in
            try transaction.endAmbient(audio.segments, inSentences: narrative, shortest: shortest, at: now)
        }
    }

    /// Gives it up. Repeatable.
    /// - Throws: as ``find(_:of:)``; ``ScribeError/sessionEnded`` once something was made of it.
    func cancel(_ id: TransactionID, of principal: Principal) async throws {
        let transaction = try await find(id, of: principal)
        let now = clock.now
        _ = try await store.update(transaction.key, at: now) { (transaction) throws(ScribeError) in
            try transaction.cancelAmbient(at: now)
        }
    }

    // MARK: What has become of it

    /// What a session gives when it is complete.
    struct Note: Sendable {
        let transaction: Transaction
        /// What was said.
        let transcript: String
        /// Its sections in the order of the note: title and text.
        let sections: [(title: String, text: String)]
    }

    /// - Returns: nil for one in which there was nothing to be heard.
    /// - Throws: ``ScribeError/invalidState(_:)`` while it is not complete, or when nothing will come of it.
    func note(of transaction: Transaction) async throws -> Note? {
        switch status(of: transaction) {
        case .completed: break
        case .skipped: return nil
        case .created, .ready, .running: throw ScribeError.invalidState("The session is not complete yet")
        case .failed, .aborted: throw ScribeError.invalidState("Nothing was made of the session")
        }
        guard let results = try await store.results(of: transaction.key) else { throw ScribeError.transactionNotFound }
        let note = results.documents.first { $0.templateID == AmbientTerms.template }
        let transcript = results.documents.first { $0.kind == .transcript }
        return Note(
            transaction: transaction, transcript: transcript?.value ?? "",
            sections: note?.value.map(AmbientTerms.sections(in:)) ?? [])
    }

    /// What was heard, in order: each file with its place in the whole.
    func outcomes(of transaction: Transaction) async throws -> [ChunkOutcome] {
        try await store.outcomes(of: transaction)
    }

    /// The stretches that make it up, in the order in which they were spoken.
    func recorded(of transaction: Transaction) async throws -> [AudioSegment] {
        try await store.segments(of: transaction.key).recorded
    }

    /// The clinician's sessions of a visit, the oldest first.
    func sessions(ofEncounter encounter: String, of principal: Principal) async throws -> [Transaction] {
        try await store.sessions(ofEncounter: encounter, of: principal.user, in: principal.business)
    }

    // MARK: What a clinician prefers

    /// Under which names it is kept among the preferences.
    static let verbosity = "ambient_verbosity"
    static let sectionFormat = "ambient_section_format"

    private static func narrativeSections(in preferences: JSONValue) -> [String] {
        guard case .array(let formats)? = preferences[sectionFormat] else { return [] }
        return formats.filter { $0["style"]?.stringValue == "NARRATIVE" }.compactMap { $0["loinc"]?.stringValue }
    }

    private func update(
        _ id: TransactionID, of principal: Principal,
        _ change: @escaping @Sendable (inout Transaction, Date) throws(ScribeError) -> Transaction.Effect
    ) async throws -> Transaction {
        let (now, lifetime) = (clock.now, lifetime)
        let key = Transaction.Key(business: principal.business, id: id)
        return try await store.update(key, at: now) { (transaction) throws(ScribeError) in
            _ = try transaction.requireAmbient(of: principal.user)
            try transaction.requireOpenSegments(at: now, lifetime: lifetime)
            return try change(&transaction, now)
        }
    }
}
