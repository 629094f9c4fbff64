import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/v1/sessions`: creates, reads, changes and ends protocol sessions (medscribe.md 2.1, 2.2, 2.6, 2.7).
struct SessionRoutes: Sendable {
    let sessions: ProtocolSessions
    let links: UploadLinks
    /// Longest wait of a poll. No SDK waits longer than 15 s (row 50).
    let longPoll: Duration
    let identifiers: WorldIdentifiers

    static func add(to router: WorldRoutes<Self>) {
        router.post("voice/v1/sessions", use: create)
        router.get("voice/v1/sessions/{txn_id}", use: read)
        router.patch("voice/v1/sessions/{txn_id}", use: patch)
        router.post("voice/v1/sessions/{txn_id}/end", use: end)
        router.post("voice/v1/sessions/{txn_id}/process/template", use: process)
        router.post("voice/v1/sessions/{txn_id}/process/template/{template_id}", use: process)
    }

    // MARK: Create

    @Sendable private func create(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let body = try await request.decodeJSON(as: SessionBody.self, in: context)
        var wanted = body.request
        try await sessions.requireTemplates(wanted.templates.map(\.id), of: principal.business)
        wanted.flavour = request.headers.value(of: .flavour) ?? ""
        wanted.version = request.headers.value(of: .version)
        let transaction = try await sessions.create(wanted, as: body.id, for: principal)
        let link = try await links.link(to: transaction, for: principal, request, context)
        return try await .longJSON(
            .created,
            [
                "session_id": .string(transaction.id.rawValue), "status": "created",
                "created_at": .string(transaction.createdAt.apiTime),
                "expires_at": .string(sessions.expiry(of: transaction).apiTime),
                "upload_url": link.json, "storage_provider": link.provider.map(JSON.string),
                "patient_details": body.request.patientDetails.map(JSON.value),
            ])
    }

    // MARK: Read

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let key = try context.requireSession()
        let query = request.query
        let (document, template) = (query.text("document_id").map { DocumentID($0) }, query.text("template_id"))
        let found = try await sessions.find(
            key, andAuthored: document, atMost: longPoll, until: context.clientDisconnect()
        ) {
            documents in
            let selected = documents.filter { candidate in
                if let document { return candidate.id == document }
                return template.map { candidate.answers(to: TemplateID($0)) } ?? true
            }
            guard !selected.isEmpty || document == nil && template == nil else {
                throw document == nil ? AllianceError.templateNotFound : AllianceError.documentNotFound
            }
            return selected
        }
        let state = SessionState(found)
        let link = try await links.link(to: found.transaction, for: try context.requirePrincipal(), request, context)
        return try await .longJSON(
            state.httpStatus,
            SessionResponse(
                found: found, state: state, link: link, expiry: sessions.expiry(of: found.transaction)
            ).json)
    }

    // MARK: Change

    @Sendable private func patch(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let key = try context.requireSession()
        let body = try await request.decodeJSON(as: SessionPatchBody.self, in: context)
        guard !body.isEmpty else { throw AllianceError.malformed("There is nothing in the body to change") }
        try await sessions.requireTemplates(body.templates ?? [], of: key.business)
        if body.isAboutRecording, try await sessions.isEnded(key) { throw AllianceError.alreadyCommitted }
        try await sessions.patch(key, body.patch, templates: body.templates)
        return .json(
            .ok,
            [
                "session_id": .string(key.id.rawValue), "status": "success",
                "message": "Session updated successfully",
            ])
    }

    // MARK: End

    /// The client's own file counts. They are only logged: the received files decide.
    private struct Counters: Decodable {
        let sent: Int?
        let uploaded: Int?

        enum CodingKeys: String, CodingKey {
            case sent = "audio_files_sent"
            case uploaded = "audio_files_uploaded"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func count(_ key: CodingKeys) throws -> Int? {
                guard container.contains(key), try !container.decodeNil(forKey: key) else { return nil }
                let count = try container.decodeInteger(forKey: key)
                guard count >= 0 else {
                    throw ScribeError.invalidRequest(field: key.rawValue, problem: "must not be negative")
                }
                return count
            }
            sent = try count(.sent)
            uploaded = try count(.uploaded)
        }
    }

    @Sendable private func end(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let key = try context.requireSession()
        let counters = try await request.decodeOptionalJSON(as: Counters.self, in: context)
        let files = try await sessions.end(key)
        if let uploaded = counters?.uploaded ?? counters?.sent, uploaded > 0, uploaded != files.count {
            context.logger.notice(
                "a session was ended with another number of files than came",
                metadata: [
                    "txn_id": "\(key.id.logged)", "told": .stringConvertible(uploaded),
                    "received": .stringConvertible(files.count),
                ])
        }
        return try await .longJSON(
            .accepted,
            [
                "session_id": .string(key.id.rawValue), "status": "processing",
                "message": "Session ended. Processing started.", "audio_files_received": .integer(files.count),
                "audio_files": .array(files, JSON.string),
            ])
    }

    // MARK: Process

    /// Starts another document from the path's template, else from the session's first one.
    ///
    /// The body is ignored: the web SDK declares JSON and sends none (row 53).
    @Sendable private func process(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let template = context.text(of: "template_id").map { TemplateID($0) }
        let key = try context.requireSession()
        if let template, try await !sessions.hasTemplate(template, of: key.business) {
            throw AllianceError.templateNotFound
        }
        try await requireDocument(request, context, key, template)
        guard let made = try await sessions.process(key, template) else { throw AllianceError.templateNotFound }
        if request.headers.value(of: .protocolName)?.lowercased() == "ag-ui" {
            return DocumentRun(
                sessions: sessions, key: key, template: made.template, document: made.document,
                id: identifiers.uuid(.run)
            ).response(until: context.clientDisconnect())
        }
        return .json(
            .accepted,
            [
                "session_id": .string(key.id.rawValue), "status": "in-progress",
                "message": "Template processing started", "template_id": .string(made.template.rawValue),
                "document_id": .string(made.document.rawValue),
            ])
    }

    /// Requires that the document named by the query exists and belongs to the template.
    private func requireDocument(
        _ request: Request, _ context: ScribeContext, _ key: Transaction.Key, _ template: TemplateID?
    ) async throws {
        guard let text = request.query.text("document_id") else { return }
        let found = try await sessions.find(key, andAuthored: DocumentID(text), until: context.clientDisconnect()) {
            documents in
            documents.filter { $0.id == DocumentID(text) }
        }
        guard let document = found.documents.first else { throw AllianceError.documentNotFound }
        if let template, !document.answers(to: template) {
            throw AllianceError.malformed("That document is of another template")
        }
    }
}

extension ScribeContext {
    /// The protocol session of the path, within the caller's business.
    /// - Throws: ``ScribeError/transactionNotFound`` also for a text that is no valid id.
    func requireSession() throws -> Transaction.Key {
        guard let text = transactionText, TransactionID.isValid(text) else { throw ScribeError.transactionNotFound }
        return Transaction.Key(business: try requirePrincipal().business, id: TransactionID(text))
    }
}
