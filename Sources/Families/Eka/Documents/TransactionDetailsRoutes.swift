import Basics
import Engines
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/api/v1/sessions/{id}`: a transaction with its documents and its context (eka.md 2.13).
struct TransactionDetailsRoutes: Sendable {
    let runtime: Runtime
    let links: DocumentLinks
    /// Nil if no family takes audio by links.
    let uploadLinks: UploadLinks?

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/api/v1/sessions/{txn_id}", use: details)
        router.patch("voice/api/v1/sessions/{txn_id}/context", use: addContext)
        router.delete("voice/api/v1/sessions/{txn_id}/context", use: removeContext)
        router.get("voice/v1/session/{txn_id}/suggested-medications", use: medications)
    }

    private struct ContextBody: Decodable {
        let context: TransactionContext
    }

    @Sendable private func details(_ request: Request, context: ScribeContext) async throws -> Response {
        guard let session = try await runtime.store.documents.session(try context.requireTransaction()) else {
            throw ScribeError.transactionNotFound
        }
        let principal = try context.requirePrincipal()
        let isPresigned = request.query["presigned"]?.lowercased() == "true"
        let documents = try session.documents.reversed().map { found -> (DocumentRecord, DocumentLinks.Links?) in
            try (found, isPresigned ? links.links(to: found.document.id, for: principal, request, context) : nil)
        }
        let link = try await uploadLinks?.link(to: session.transaction, for: principal, request, context)
        let isPending = session.documents.contains { !$0.document.status.isFinal }
        let lifetime = runtime.store.policies[session.transaction.request.kind].lifetime
        return try await .longJSON(
            isPending ? .accepted : .ok,
            [
                "status": "success",
                "data": session.transaction.details(
                    session.context, .array(documents) { $0.json($1) }, link, lifetime: lifetime),
            ])
    }

    @Sendable private func addContext(_ request: Request, context: ScribeContext) async throws -> Response {
        let said = try await request.decodeJSON(as: ContextBody.self, in: context).context
        let business = try context.requirePrincipal().business
        let more = said.dated(try await runtime.store.documents.startTimes(of: said.pastSessions, in: business))
        return try await update(context) { (context) throws(ScribeError) in
            let sum = TransactionContext(context).adding(more).json
            try Limits.require(sum, within: Limits.context, "context")
            return sum
        }
    }

    /// Removes the items that the body lists.
    @Sendable private func removeContext(_ request: Request, context: ScribeContext) async throws -> Response {
        let gone = try await request.decodeJSON(as: ContextBody.self, in: context).context
        return try await update(context) { TransactionContext($0).removing(gone).json }
    }

    private func update(
        _ context: ScribeContext, _ change: @escaping @Sendable (JSONValue) throws(ScribeError) -> JSONValue
    ) async throws -> Response {
        let key = try context.requireTransaction()
        let changed = try await runtime.store.documents.updateContext(of: key, change)
        return try await .longJSON(
            .ok, .success("Context updated successfully", key, with: ["data": ["context": .value(changed)]]))
    }

    /// Lists the medicines that the transcript mentions.
    @Sendable private func medications(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        guard let results = try await runtime.store.transactions.results(of: key) else {
            throw ScribeError.transactionNotFound
        }
        let text = results.documents.first { $0.kind == .transcript }?.value ?? ""
        let facts = try await runtime.facts.facts(in: text, isDictated: results.transaction.request.isDictated)
            .filter { $0.kind == .medication }
        return try await .longJSON(
            .ok,
            [
                "status": "success", "session_id": .string(key.id.rawValue),
                "medications": .array(facts) { $0.suggestedMedication },
            ])
    }
}
