import Basics
import Foundation
import Hummingbird
import HummingbirdCore
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `GET /voice/api/v3/status/{txn}`: polls the results of a transaction (eka.md 2.4).
struct ResultRoutes: Sendable {
    let runtime: Runtime
    /// Longest wait of a status poll. No SDK waits longer than 16 s (C-30).
    let longPoll: Duration
    let answers: FinishedResponseCache
    let profiles: ClientProfiles

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/api/v3/status/{txn_id}", use: status)
        router.patch("voice/api/v3/status/{txn_id}", use: edit)
    }

    @Sendable private func status(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let query = ResultQuery(request.uri.queryParameters)
        let question = FinishedResponseCache.Question(
            transaction: key, query: query,
            profile: profiles.known(request, context)
        )
        if let answer = answers.answer(to: question, context) { return answer }
        let version = runtime.signals.versions[key]
        let found = try await results(of: key, query, context)
        let profile = question.profile ?? ClientProfile(flavour: found.transaction.request.flavour) ?? .generic
        var documents = query.select(from: found.documents)
        if profiles.isStrict, found.transaction.isStuck(at: runtime.clock.now) {
            documents = documents.map(\.failedIfPending)
        }
        let size = documents.total { $0.value?.utf8.count ?? 0 }
        let (status, body) = await EventLoopOffload.run(bytes: size) {
            let response = ResultResponse(found.transaction, documents, query, profile)
            // A note is in two lists, as base64.
            var text = JSONText(capacity: 4096 + 3 * size)
            text.write(json: response.json)
            return (response.status, ByteBuffer(bytes: text.bytes))
        }
        if documents.outcome != .inProgress {
            answers.remember(status, body, to: question, version: version)
        }
        return .json(status, body)
    }
}

extension ResultRoutes {
    /// Waits until the selected results are final (C-29), at most as long as SDKs wait (C-30).
    private func results(
        of key: Transaction.Key, _ query: ResultQuery, _ context: ScribeContext
    ) async throws -> Transactions.Results {
        do {
            return try await runtime.transactions.results(
                of: key, andAuthored: query.document, atMost: query.isImmediate ? .zero : longPoll,
                until: context.clientDisconnect()
            ) { results in
                let asked = query.select(from: results.documents)
                guard !asked.isEmpty else { throw ScribeError.resultNotFound }
                try results.transaction.requireAwaited(at: runtime.clock.now)
                return asked.outcome != .inProgress
            }
        } catch ScribeError.transactionNotFound {
            throw EkaError.polledTransactionNotFound
        }
    }
}

/// Decodes the query of a poll: which results to return, and whether to wait.
struct ResultQuery: Hashable, Sendable {
    /// Template to select, nil for all; `transcript` selects the base transcript.
    var template: TemplateID?
    var document: DocumentID?
    /// `dlp=true`: answers at once with the present state.
    var isImmediate: Bool

    init(_ parameters: FlatDictionary<Substring, Substring>) {
        template = parameters.text("template_id").map { TemplateID($0) }
        if parameters.text("transcript") == "true" { template = ResultDocument.transcriptTemplate }
        document = parameters.text("document_id").map { DocumentID($0) }
        isImmediate = parameters.text("dlp") == "true"
    }

    /// Selects the requested documents; all documents without a template and a document id.
    func select(from documents: [ResultDocument]) -> [ResultDocument] {
        documents.filter { candidate in
            if let document, candidate.id != document { return false }
            guard let template else { return true }
            // A requested template named `transcript` is a note; the transcript itself also answers to that name.
            return candidate.answers(to: template)
        }
    }
}

extension Transaction {
    /// Time after commit when the documentation declares a result failed, in seconds (eka.md 4.2).
    private static let documentedTimeout: TimeInterval = 120

    fileprivate func isStuck(at now: Date) -> Bool {
        committedAt.map { now.timeIntervalSince($0) > Self.documentedTimeout } ?? false
    }
}

extension ResultDocument {
    /// The document as a failure, if it is not final. The failure is not stored: processing may still finish.
    fileprivate var failedIfPending: ResultDocument {
        guard !status.isFinal else { return self }
        var document = self
        document.status = .failure
        document.errors = [Diagnostic(.processingFailed, "The result took too long")]
        return document
    }
}
