import Basics
import Engines
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// Starts, records, ends and reads ambient sessions (suki.md 3, 5, 8).
///
/// An ambient session is a transaction. Its audio comes over sockets in segments, which may come late, twice or out of
/// order. Its note has the sections that its client requested.
struct AmbientSessions: Sendable {
    /// Settings of a new ambient session.
    struct Draft: Hashable, Sendable {
        /// The client's choice, or nil for a new id.
        var id: TransactionID?
        /// The visit; nil for a new visit.
        var encounter: String?
        var context = AmbientContext.empty
        /// Spoken languages; empty for any.
        var languages: [String] = []

        init() {}
    }

    /// An audio segment that is being received.
    struct Segment: Sendable {
        let id: String
        let stream: LiveRecording
    }

    let runtime: Runtime
    /// Sessions with less audio get no note, in seconds.
    let minimumDuration: TimeInterval
    private var store: Store { runtime.store }
    private var streams: SessionStreams { runtime.sessionStreams }
    private var identifiers: WorldIdentifiers { runtime.identifiers }
    private var clock: WorldClock { runtime.clock }

    /// Lifetime of an ambient session, in seconds.
    private var lifetime: RecordingLifetime? { store.policies[.ambient].lifetime }

    /// Storage location of an ambient session's audio.
    func location(of id: TransactionID) -> AudioLocation {
        AudioLocation(bucket: runtime.bucket, folder: "sessions/\(id)")
    }

    var now: Date { clock.now }

    /// Starts an ambient session. A repeated request succeeds: a client may not have got the first answer.
    /// - Throws: As ``Transactions/start(_:_:for:replays:)``.
    func create(_ draft: Draft, for principal: Principal) async throws -> TransactionID {
        let id = draft.id ?? TransactionID(identifiers.uuid(.session))
        let encounter = draft.encounter ?? identifiers.uuid(.encounter)
        var terms = AmbientTerms(encounter: encounter)
        terms.context = draft.context
        let request = TransactionRequest(
            transfer: .vaded, mode: "ambient", audioURL: location(of: id).url,
            inputLanguages: draft.languages, templates: [.init(id: AmbientTerms.template)],
            patientDetails: .object(["visit_id": .string(encounter)]), flavour: "suki", kind: .ambient,
            terms: terms.stored, intake: .segments)
        do {
            _ = try await runtime.transactions.start(id, request, for: principal, replays: false)
        } catch ScribeError.transactionAlreadyInitialized {
            let key = Transaction.Key(business: principal.business, id: id)
            guard let known = try await store.transactions.transaction(key),
                let terms = try? known.requireAmbient(of: principal.user),
                !status(of: known).isTerminal,
                draft.encounter == nil || draft.encounter == terms.encounter
            else { throw ScribeError.transactionAlreadyInitialized }
        }
        return id
    }

    /// The ambient session with this id.
    /// - Throws: ``ScribeError/transactionNotFound``, also for another clinician's session.
    func find(_ id: TransactionID, of principal: Principal) async throws -> Transaction {
        let key = Transaction.Key(business: principal.business, id: id)
        let transaction = try await store.transactions.requireTransaction(key)
        _ = try transaction.requireAmbient(of: principal.user)
        return transaction
    }

    func status(of transaction: Transaction) -> AmbientStatus {
        transaction.ambientStatus(at: clock.now, lifetime: lifetime) ?? .failed
    }

    /// The ambient session with this id, if it accepts audio and context now.
    /// - Throws: As ``find(_:of:)``; ``ScribeError/transactionCancelled``, ``ScribeError/sessionEnded``,
    ///   ``ScribeError/sessionExpired``.
    func requireOpen(_ id: TransactionID, of principal: Principal) async throws -> Transaction {
        let transaction = try await find(id, of: principal)
        try transaction.requireOpenSegments(at: clock.now, lifetime: lifetime)
        return transaction
    }

    /// Sets or merges the context of an ambient session. An invalid context changes nothing.
    /// - Returns: The whole context.
    /// - Throws: As ``requireOpen(_:of:)``; ``ScribeError/invalidRequest(field:problem:)``.
    func setContext(
        _ body: JSONValue, merging: Bool, of id: TransactionID, for principal: Principal
    ) async throws -> AmbientContext {
        // Validated outside the write transaction.
        let change = try AmbientContext.checked(body, today: clock.now)
        let transaction = try await update(id, of: principal) { transaction, _ throws(ScribeError) in
            let before = merging ? try transaction.requireAmbient(of: principal.user).context : .empty
            let context = before.merged(with: change)
            try Limits.require(context.json, within: Limits.context, "the context")
            return transaction.setContext(context)
        }
        return transaction.ambientTerms?.context ?? .empty
    }

    /// Prepares an ambient session for a new socket.
    /// - Throws: As ``requireOpen(_:of:)``; ``ScribeError/refusedOnPurpose``.
    func connect(_ id: TransactionID, of principal: Principal) async throws {
        try runtime.fixtureBehaviour.requirePermission(
            .upload, try await requireOpen(id, of: principal).request.fixture)
        try await advance(id, to: .ready, of: principal)
    }

    /// Advances the stage of an ambient session's recording.
    /// - Throws: As ``requireOpen(_:of:)``.
    func advance(_ id: TransactionID, to stage: AmbientTerms.Stage, of principal: Principal) async throws {
        _ = try await update(id, of: principal) { transaction, _ in transaction.advance(to: stage) }
    }

    /// Begins an audio segment of an ambient session.
    /// - Parameter time: Start of the segment, by the client's clock.
    /// - Throws: As ``requireOpen(_:of:)``; ``ScribeError/invalidRequest(field:problem:)`` for too many segments.
    func record(
        from time: Date, in id: TransactionID, of principal: Principal
    ) async throws -> Segment {
        let segment = try await receive(in: id, of: principal)
        let key = Transaction.Key(business: principal.business, id: id)
        try await store.transactions.beginSegment(
            segment.id, startedAt: time, of: key, called: "START_TIME", at: clock.now)
        return segment
    }

    /// Begins a segment that counts only once it is complete, and ``keep(_:from:in:of:)`` was called.
    /// - Throws: As ``requireOpen(_:of:)``.
    func receive(in id: TransactionID, of principal: Principal) async throws -> Segment {
        _ = try await requireOpen(id, of: principal)
        let recording = ULID.text(at: clock.now, identifiers.bytes(10, .recording))
        return Segment(
            id: recording, stream: try await streams.begin(id, .init(), segment: recording, for: principal))
    }

    /// Ends a received segment, and adds it to the session.
    /// - Throws: As ``record(from:in:of:)``.
    func keep(
        _ segment: Segment, from time: Date, in id: TransactionID, of principal: Principal
    ) async throws {
        try await end(segment, of: id, for: principal)
        let key = Transaction.Key(business: principal.business, id: id)
        try await store.transactions.beginSegment(
            segment.id, startedAt: time, of: key, called: "START_TIME", at: clock.now)
    }

    /// Ends an audio segment of an ambient session, and keeps its audio.
    /// - Throws: As ``LiveRecording/breakOff()``.
    func end(_ segment: Segment, of id: TransactionID, for principal: Principal) async throws {
        defer { streams.end(segment.stream, of: Transaction.Key(business: principal.business, id: id)) }
        try await shieldFromCancellation { try await segment.stream.breakOff() }
    }

    /// Removes an audio segment of an ambient session, with its files.
    func discard(_ segment: Segment, of id: TransactionID, for principal: Principal) async {
        let key = Transaction.Key(business: principal.business, id: id)
        streams.end(segment.stream, of: key)
        try? await shieldFromCancellation {
            await runtime.uploads.remove(try await store.transactions.removeSegment(segment.id, of: key))
        }
    }

    /// Ends an ambient session, and processes its note. Repeatable.
    /// - Throws: As ``find(_:of:)``; ``ScribeError/transactionCancelled``, ``ScribeError/sessionExpired``,
    ///   ``ScribeError/refusedOnPurpose``.
    func end(_ id: TransactionID, of principal: Principal) async throws {
        let transaction = try await find(id, of: principal)
        guard transaction.userStatus != .committed else { return }
        try transaction.requireOpenSegments(at: clock.now, lifetime: lifetime)
        try await streams.settle(transaction.key)
        let narrative = try await Self.narrativeSections(
            in: store.accounts.preferences(of: principal.user, in: principal.business))
        let now = clock.now
        _ = try await store.transactions.end(
            transaction.key, at: now, refusing: runtime.fixtureBehaviour.fixtures(refusing: .commit)
        ) { [minimumDuration] (transaction, audio) throws(ScribeError) in
            try transaction.endAmbient(
                audio.segments, inSentences: narrative, minimumDuration: minimumDuration, at: now)
        }
    }

    /// Cancels an ambient session. Repeatable.
    /// - Throws: As ``find(_:of:)``; ``ScribeError/sessionEnded`` once the session is processed;
    ///   ``ScribeError/sessionExpired``.
    func cancel(_ id: TransactionID, of principal: Principal) async throws {
        let transaction = try await find(id, of: principal)
        let (now, lifetime) = (clock.now, lifetime)
        _ = try await store.transactions.update(transaction.key, at: now) { (transaction) throws(ScribeError) in
            try transaction.cancelAmbient(at: now, lifetime: lifetime)
        }
    }

    // MARK: Results

    /// Results of a complete ambient session.
    struct Note: Sendable {
        let transaction: Transaction
        /// The whole transcript.
        let transcript: String
        /// Sections in the order of the note: title and text.
        let sections: [(title: String, text: String)]
    }

    /// The note of an ambient session.
    /// - Returns: nil for a session without speech.
    /// - Throws: ``ScribeError/invalidState(_:)`` until the session is complete, and for a failed or cancelled one.
    func note(of transaction: Transaction) async throws -> Note? {
        switch status(of: transaction) {
        case .completed: break
        case .skipped: return nil
        case .created, .ready, .running: throw ScribeError.invalidState("The session is not complete yet")
        case .failed, .aborted: throw ScribeError.invalidState("Nothing was made of the session")
        }
        guard let results = try await store.transactions.results(of: transaction.key) else {
            throw ScribeError.transactionNotFound
        }
        let note = results.documents.first { $0.templateID == AmbientTerms.template }
        let transcript = results.documents.first { $0.kind == .transcript }
        return Note(
            transaction: transaction, transcript: transcript?.value ?? "",
            sections: note?.value.map(AmbientTerms.sections(in:)) ?? [])
    }

    /// The clinician's ambient sessions of a visit, oldest first.
    func sessions(ofEncounter encounter: String, of principal: Principal) async throws -> [Transaction] {
        try await store.transactions.sessions(ofEncounter: encounter, of: principal.user, in: principal.business)
    }

    // MARK: Preferences

    /// Keys of the ambient settings among a user's preferences.
    static let verbosity = "ambient_verbosity"
    static let sectionFormat = "ambient_section_format"

    private static func narrativeSections(in preferences: JSONValue) -> [String] {
        (preferences[sectionFormat]?.arrayValue ?? [])
            .filter { $0["style"]?.stringValue == "NARRATIVE" }.compactMap { $0["loinc"]?.stringValue }
    }

    private func update(
        _ id: TransactionID, of principal: Principal,
        _ change: @escaping @Sendable (inout Transaction, Date) throws(ScribeError) -> Transaction.Effect
    ) async throws -> Transaction {
        let (now, lifetime) = (clock.now, lifetime)
        let key = Transaction.Key(business: principal.business, id: id)
        return try await store.transactions.update(key, at: now) { (transaction) throws(ScribeError) in
            _ = try transaction.requireAmbient(of: principal.user)
            try transaction.requireOpenSegments(at: now, lifetime: lifetime)
            return try change(&transaction, now)
        }
    }
}
