import Basics
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/api/v1/ambient/session/…`: creates, describes, ends and cancels ambient sessions (suki.md 3.1 to 3.8).
struct SessionRoutes: Sendable {
    let sessions: AmbientSessions
    let sockets: AmbientSockets

    static func add(to router: WorldRoutes<Self>, contexts: WorldRoutes<Self>) {
        router.post("api/v1/ambient/session/create", use: create)
        contexts.post("api/v1/ambient/session/{txn_id}/context", use: replaceContext)
        contexts.patch("api/v1/ambient/session/{txn_id}/context", use: mergeContext)
        router.get("api/v1/ambient/session/{txn_id}/status", use: status)
        router.post("api/v1/ambient/session/{txn_id}/end", use: end)
        router.post("api/v1/ambient/session/{txn_id}/cancel", use: cancel)
    }

    @Sendable private func create(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body: CreateBody = try await request.decodeOptionalJSON(in: context) ?? CreateBody()
        let draft = try body.draft(at: sessions.now)
        let id = try await sessions.create(draft, for: try context.requirePrincipal())
        let shown = body.id ?? id.rawValue
        var response = Response.json(.created, ["ambient_session_id": .string(shown)])
        response.headers[.location] = "\(context.linkPath)/api/v1/ambient/session/\(shown)/status"
        return response
    }

    /// Replaces the context, and answers without a body.
    @Sendable private func replaceContext(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        let body: JSONValue = try await request.decodeJSON(in: context)
        _ = try await sessions.setContext(body, merging: false, of: id, for: principal)
        return Response(status: .ok)
    }

    @Sendable private func mergeContext(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        let body: JSONValue = try await request.decodeOptionalJSON(in: context) ?? .object([:])
        let merged = try await sessions.setContext(body, merging: true, of: id, for: principal)
        return try await .longJSON(.ok, ["context": .value(merged.json)])
    }

    @Sendable private func status(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        let transaction = try await sessions.find(id, of: principal)
        return .json(.ok, ["status": .string(sessions.status(of: transaction).rawValue)])
    }

    @Sendable private func end(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        _ = try await sessions.find(id, of: principal)
        await sockets.drain(id, of: principal.business)
        try await sessions.end(id, of: principal)
        return .json(.ok, [:])
    }

    @Sendable private func cancel(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        try await sessions.cancel(id, of: principal)
        await sockets.close(id, of: principal.business)
        return .json(.ok, [:])
    }
}

extension ScribeContext {
    /// The ambient session id of the path; its hex digits may be in any case.
    /// - Throws: ``ScribeError/transactionNotFound`` for a text that is no UUID.
    func requireAmbientSession() throws -> (id: TransactionID, principal: Principal) {
        guard let text = transactionText, let id = AmbientID(text) else { throw ScribeError.transactionNotFound }
        return (id.transaction, try requirePrincipal())
    }
}

/// Parses the id of an ambient session, a UUID.
struct AmbientID: Hashable, Sendable {
    let transaction: TransactionID

    init?(_ text: String) {
        guard text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
        transaction = TransactionID(uuid.uuidString.lowercased())
    }
}
