import Basics
import Engines
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// Starts, reads, changes and ends protocol sessions.
///
/// A protocol session is a transaction under other names: the same row, the same states, the same jobs.
struct ProtocolSessions: Sendable {
    /// Contents of a protocol session, as one poll reads them.
    struct Contents: Sendable {
        let transaction: Transaction
        let documents: [ResultDocument]
        /// The transcript's text, whatever documents the caller selects; nil until the transcript is usable.
        let transcript: String?
        /// The names of the session's audio files, in order.
        let files: [String]
        let isExpired: Bool
    }

    private let runtime: Runtime
    private var store: Store { runtime.store }
    var clock: WorldClock { runtime.clock }

    init(_ runtime: Runtime) { self.runtime = runtime }

    /// Starts a protocol session.
    /// - Parameters:
    ///   - request: The session's settings; the place of its audio is named after its id.
    ///   - id: The client's choice, or nil for a new id.
    /// - Throws: As ``Transactions/start(_:_:for:replays:)``.
    func create(
        _ request: TransactionRequest, as id: TransactionID?, for principal: Principal
    ) async throws -> Transaction {
        let id = id ?? TransactionID("ses_\(Hex.encode(runtime.identifiers.bytes(10, .session)))")
        let location = AudioLocation(bucket: runtime.bucket, folder: "sessions/\(id)")
        var request = request
        request.audioURL = location.url
        request.audioLocation = location
        _ = try await runtime.transactions.start(id, request, for: principal, replays: false)
        let key = Transaction.Key(business: principal.business, id: id)
        return try await store.transactions.requireTransaction(key)
    }

    /// The time from which on an open recording takes nothing more.
    func expiry(of transaction: Transaction) -> Date {
        lifetime(of: transaction.request.kind).end(begun: transaction.createdAt, lastAudio: transaction.lastAudioAt)
    }

    /// Lifetime of a recording: of its own kind, else of protocol sessions.
    private func lifetime(of kind: RecordingKind) -> RecordingLifetime {
        store.policies[kind].lifetime ?? store.policies[.session].lifetime
            ?? RecordingLifetime(SessionPolicy.usualLifetime)
    }

    /// Most known ids that an error names.
    private static let maxNamed = 50
    /// Longest id that an error repeats, in bytes: a UUID.
    private static let longestNamed = 36

    /// Checks that the business has all of the wanted templates.
    /// - Throws: ``AllianceError/invalidTemplate(_:known:)``, which names the first that it has not.
    func requireTemplates(_ wanted: [TemplateID], of business: BusinessID) async throws {
        let others = wanted.filter { !runtime.templates.offers($0) }
        guard !others.isEmpty else { return }
        // Removed templates do not count: they name their old notes, and write no new ones.
        let own = try await store.templates.all(of: business).map(\.id)
        guard let missing = others.first(where: { !own.contains($0) })?.rawValue else { return }
        let isName = missing.utf8.count <= Self.longestNamed && missing.utf8.allSatisfy(\.isInIdentifier)
        let known = runtime.templates.templates.map(\.id).filter(runtime.templates.offers) + own
        throw AllianceError.invalidTemplate(
            isName ? missing : "?", known: known.prefix(Self.maxNamed).map(\.rawValue))
    }

    /// Whether the business has a template.
    func hasTemplate(_ wanted: TemplateID, of business: BusinessID) async throws -> Bool {
        do {
            try await requireTemplates([wanted], of: business)
            return true
        } catch is AllianceError {
            return false
        }
    }

    /// Whether the protocol session was ended or cancelled.
    /// - Throws: ``ScribeError/transactionNotFound``.
    func isEnded(_ key: Transaction.Key) async throws -> Bool {
        let transaction = try await store.transactions.requireTransaction(key)
        return !transaction.userStatus.isOpen
    }

    /// The templates of a business: its own first, then the catalogue's.
    func templates(
        of business: BusinessID
    ) async throws -> [(id: TemplateID, name: String, description: String)] {
        let own = try await store.templates.all(of: business).map { ($0.id, $0.title, $0.summary ?? "") }
        return own + runtime.templates.templates.map { ($0.id, $0.name, "") }
    }

    /// Reads a protocol session; waits until an ended one's selected results are final, or the time is over.
    /// - Parameters:
    ///   - limit: Longest wait.
    ///   - select: The documents to read and to wait for.
    /// - Throws: ``ScribeError/transactionNotFound``, and the errors of `select`.
    func find(
        _ key: Transaction.Key, andAuthored authored: DocumentID? = nil, atMost limit: Duration = .zero,
        until clientDisconnect: OneShotSignal, _ select: ([ResultDocument]) throws -> [ResultDocument]
    ) async throws -> Contents {
        let results = try await runtime.transactions.results(
            of: key, andAuthored: authored, atMost: limit, until: clientDisconnect
        ) { results in
            // An open session gets no results, so there is nothing to wait for.
            let selected = try select(results.documents)
            return results.transaction.userStatus != .committed || selected.outcome != .inProgress
        }
        return Contents(
            transaction: results.transaction, documents: try select(results.documents),
            // A client's own transcript, which it may have asked for, comes later.
            transcript: results.documents.first { $0.kind == .transcript }
                .flatMap { $0.status.isUsable ? $0.value : nil },
            files: try await store.transactions.chunkNames(of: results.transaction),
            isExpired: results.transaction.isExpired(
                at: clock.now, lifetime: lifetime(of: results.transaction.request.kind)))
    }

    /// Requires that the protocol session accepts audio now.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``,
    ///   ``ScribeError/sessionExpired``.
    func requireOpen(_ key: Transaction.Key) async throws -> Transaction {
        let transaction = try await store.transactions.requireTransaction(key)
        try Transaction.requireOpenArrival(
            transaction.userStatus, transaction.processingStatus, begun: transaction.createdAt,
            lastAudio: transaction.lastAudioAt, at: clock.now, lifetime: lifetime(of: transaction.request.kind))
        return transaction
    }

    /// Waits until a protocol session takes no more audio: it is ended, cancelled, expired or removed.
    /// - Returns: the reason; nil if the wait ended before, with its task or with the server.
    func refusal(of key: Transaction.Key) async throws -> ScribeError? {
        while true {
            // Audio moves the end.
            let end = expiry(of: try await requireOpen(key))
            let refusal = try await runtime.signals.longPoll(
                key, atMost: .seconds(end.timeIntervalSince(clock.now) + 1), clock: clock, until: OneShotSignal()
            ) { () -> (ScribeError?, Bool) in
                do {
                    _ = try await requireOpen(key)
                    return (nil, false)
                } catch let error as ScribeError {
                    return (error, error.kind != .unavailable)
                }
            }
            if refusal != nil || Task.isCancelled || clock.now < end { return refusal }
        }
    }

    /// Notes a message of a stream, which keeps its session open.
    func noteMessage(of key: Transaction.Key) async throws {
        try await store.transactions.noteAudio(of: key, at: clock.now)
    }

    /// Ends a protocol session: no more audio, and its results are processed.
    ///
    /// Transactions that another API started are ended the same way.
    /// - Returns: Names of the audio files that had arrived.
    /// - Throws: As ``Store/end(_:at:refusing:_:)``; ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``.
    func end(_ key: Transaction.Key) async throws -> [String] {
        // Sockets may still hold audio that the client sent before this request.
        try? await runtime.sessionStreams.drain(key)
        let now = clock.now
        return try await store.transactions.end(
            key, at: now, refusing: runtime.fixtureBehaviour.fixtures(refusing: .commit)
        ) { (transaction, audio) throws(ScribeError) in
            try transaction.end(audio.files, at: now, lifetime: lifetime(of: transaction.request.kind))
        }
    }

    /// Changes the settings of a protocol session, or cancels that session.
    /// - Parameter wanted: New templates; they take effect while the session is open.
    /// - Throws: As `Transactions.patch`.
    func patch(_ key: Transaction.Key, _ patch: TransactionPatch, templates wanted: [TemplateID]?) async throws {
        var patch = patch
        var documents: [ResultDocument]?
        if let wanted {
            let asked = wanted.map { TransactionRequest.RequestedTemplate(id: $0, type: "custom") }
            patch.templates = asked
            let own = try await store.templates.all(of: key.business)
            let request = TransactionRequest(transfer: .vaded, templates: asked)
            documents = runtime.templates.documents(for: request, custom: own, identifiers: runtime.identifiers)
                .filter { $0.kind != .transcript }
        }
        _ = try await runtime.transactions.patch(key, patch, documents: documents)
    }

    /// Requests another document of a protocol session from a template, a new one each time.
    /// - Returns: The template and the document's id; nil if the session has no template.
    /// - Throws: As ``Transactions/convert(_:to:in:from:addsOne:)``.
    func process(
        _ key: Transaction.Key, _ template: TemplateID?
    ) async throws -> (template: TemplateID, document: DocumentID)? {
        var wanted = template
        if wanted == nil {
            let transaction = try await store.transactions.requireTransaction(key)
            wanted = transaction.request.templates.first?.id
        }
        guard let wanted else { return nil }
        return try await runtime.transactions.convert(key, to: wanted, in: nil, from: .recording, addsOne: true)
    }
}
