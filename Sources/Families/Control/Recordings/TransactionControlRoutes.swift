import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/__admin/transactions/{id}`: reads, commits, cancels, fails, completes, awaits and deletes one transaction.
struct TransactionControlRoutes: Sendable {
    let runtime: Runtime

    /// Wait without `timeout`, and of `fail` and `complete`.
    private static let defaultWait: Duration = .seconds(30)
    private static let textLimit = 256 << 10

    static func add(to router: WorldRoutes<Self>) {
        router.get("transactions/{txn_id}", use: read)
        router.delete("transactions/{txn_id}", use: remove)
        router.post("transactions/{txn_id}/commit", use: commit)
        router.post("transactions/{txn_id}/cancel", use: cancel)
        router.post("transactions/{txn_id}/fail", use: fail)
        router.post("transactions/{txn_id}/complete", use: complete)
        router.post("transactions/{txn_id}/wait", use: wait)
    }

    private var control: TransactionControl { TransactionControl(runtime) }

    private func key(_ request: Request, _ context: ScribeContext) async throws -> Transaction.Key {
        guard let id = context.transactionText, TransactionID.isValid(id) else {
            throw ScribeError.invalidRequest(field: "txn_id", problem: "is not a transaction id")
        }
        let business = request.query.text("business").map { BusinessID($0) }
        return try await control.key(of: TransactionID(id), in: business)
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await answer(try await key(request, context))
    }

    @Sendable private func commit(_ request: Request, _ context: ScribeContext) async throws -> Response {
        _ = try await request.fields(context: context)
        let key = try await key(request, context)
        try await control.commit(key)
        return try await answer(key)
    }

    @Sendable private func cancel(_ request: Request, _ context: ScribeContext) async throws -> Response {
        _ = try await request.fields(context: context)
        let key = try await key(request, context)
        try await control.cancel(key)
        return try await answer(key)
    }

    @Sendable private func fail(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["code"], context: context)
        var decision = FaultRules.PipelineDecision()
        decision.recognition = .failure(try body.choice("code") ?? .transcriptionFailed)
        return try await end(request, context, decision)
    }

    /// Ends a transaction with the usual results, or with a transcript and a note of the operator's.
    @Sendable private func complete(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["transcript", "note"], context: context)
        func text(_ name: String) throws -> String? {
            guard let value = body[name] else { return nil }
            guard let text = value.stringValue, !text.isEmpty, text.utf8.count <= Self.textLimit else {
                throw body.problem(name, "must be a text of 1 to \(Self.textLimit) bytes")
            }
            return text.storable
        }
        var decision = FaultRules.PipelineDecision()
        decision.recognition = try text("transcript").map { .result($0) }
        decision.note = try text("note").map { .result($0) }
        return try await end(request, context, decision)
    }

    private func end(
        _ request: Request, _ context: ScribeContext, _ decision: FaultRules.PipelineDecision
    ) async throws -> Response {
        let key = try await key(request, context)
        try await control.end(key, with: decision)
        return try await waited(for: key, atMost: Self.defaultWait, context)
    }

    @Sendable private func wait(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["timeout"], context: context)
        let limit = try body.duration("timeout", upTo: "600s") ?? Self.defaultWait
        return try await waited(for: try await key(request, context), atMost: limit, context)
    }

    private func waited(
        for key: Transaction.Key, atMost limit: Duration, _ context: ScribeContext
    ) async throws -> Response {
        let found = try await control.wait(for: key, atMost: limit, until: context.clientDisconnect())
        return .json(.ok, Self.json(found.transaction, found.documents))
    }

    @Sendable private func remove(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await control.remove(try await key(request, context))
        return Response(status: .noContent)
    }

    private func answer(_ key: Transaction.Key) async throws -> Response {
        guard let found = try await runtime.store.transactions.results(of: key) else {
            throw ScribeError.transactionNotFound
        }
        return .json(.ok, Self.json(found.transaction, found.documents))
    }

    /// State of a transaction, without transcripts, notes and patients' names.
    private static func json(_ transaction: Transaction, _ documents: [ResultDocument]) -> JSON {
        [
            "transaction_id": .string(transaction.key.id.rawValue),
            "business_id": .string(transaction.key.business.rawValue),
            "kind": .string(transaction.request.kind.rawValue),
            "user_status": .string(transaction.userStatus.rawValue),
            "processing_status": .string(transaction.processingStatus.rawValue),
            "is_final": .bool(transaction.isFinal(with: documents)),
            "documents": .array(documents) { document in
                [
                    "document_id": .string(document.id.rawValue),
                    "template_id": .string(document.templateID.rawValue), "status": .string(document.status.rawValue),
                    "errors": .array(document.errors) { .string($0.code.rawValue) },
                    "warnings": .array(document.warnings) { .string($0.code.rawValue) },
                ]
            },
        ]
    }
}
