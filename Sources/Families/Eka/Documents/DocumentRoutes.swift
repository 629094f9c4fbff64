import Basics
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/api/v1/documents`: documents that clients write themselves, beside the results (eka.md 2.13).
struct DocumentRoutes: Sendable {
    private static let parameter = "document_id"
    /// Template id of a document without a template.
    private static let noTemplate = TemplateID("__non_tmp_doc")

    let runtime: Runtime
    let links: DocumentLinks

    static func add(to router: WorldRoutes<Self>) {
        router.post("voice/api/v1/documents", use: save)
        router.get("voice/api/v1/documents", use: list)
        router.get("voice/api/v1/documents/{document_id}", use: read)
        router.delete("voice/api/v1/documents/{document_id}", use: archive)
        router.post("voice/api/v1/sessions/{txn_id}/documents/{document_id}/publish", use: publish)
    }

    /// Decodes a document to create; with the id of an existing document, its new content.
    private struct Body: Decodable {
        let session: String?
        let document: String?
        let template: String?
        let name: String?
        let kind: ResultDocument.Kind
        let change: DocumentChange

        private enum CodingKeys: String, CodingKey {
            case data, type, publish
            case editorContent = "tiptap_json"
            case session = "session_id"
            case document = "document_id"
            case template = "template_id"
            case name = "document_name"
            case kind = "document_type"
            case content = "markdown_data"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
            session = try text(.session)
            document = try text(.document)
            template = try text(.template)
            name = try text(.name)
            let data = try text(.data)
            change = DocumentChange(
                name: name, value: (try text(.content) ?? data)?.storable,
                publication: try container.decodeEcho(forKey: .publish),
                editorContent: try container.decodeEcho(forKey: .editorContent))
            // On creation the web client sends the kind as `type`; in answers `type` is the format.
            let type = try text(.type)
            let word = try text(.kind) ?? (document == nil ? type : nil) ?? ResultDocument.Kind.custom.rawValue
            guard let kind = ResultDocument.Kind(rawValue: word) else {
                throw ScribeError.invalidRequest(
                    field: "document_type", problem: "must be custom, notes, context, integration or transcript")
            }
            self.kind = kind
            if let template, !TemplateID.isValid(template) {
                throw ScribeError.invalidRequest(field: "template_id", problem: "is not a template id")
            }
            if let name, !name.isPlain || !(1...255).contains(name.unicodeScalars.count) {
                throw ScribeError.invalidRequest(field: "document_name", problem: "must have 1 to 255 characters")
            }
        }
    }

    @Sendable private func save(_ request: Request, context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        let body: Body = try await request.decodeJSON(in: context)
        if let id = body.document {
            let changed = try await runtime.store.documents.rewrite(
                DocumentID(id), of: business, body.change, at: runtime.clock.now)
            return try await answer(.ok, changed, writes: true, request, context)
        }
        guard let session = body.session, session.isPlain else {
            throw ScribeError.invalidRequest(field: "session_id", problem: "is required")
        }
        let document = ResultDocument(
            id: DocumentID(runtime.identifiers.uuid(.document)), kind: body.kind,
            templateID: body.template.map { TemplateID($0) } ?? Self.noTemplate, name: body.name ?? "Document",
            format: .markdown, status: .success, value: body.change.value ?? "")
        let key = Transaction.Key(business: business, id: TransactionID(session))
        let added = try await runtime.store.documents.add(document, body.change, to: key, at: runtime.clock.now) {
            [id = document.id] in
            document.kind == .context ? TransactionContext($0).adding(id).json : $0
        }
        return try await answer(.created, added, writes: true, request, context)
    }

    @Sendable private func list(_ request: Request, context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        guard let session = request.uri.queryParameters["session_id"].map(String.init), session.isPlain else {
            throw ScribeError.invalidRequest(field: "session_id", problem: "is required")
        }
        let key = Transaction.Key(business: business, id: TransactionID(session))
        guard let found = try await runtime.store.documents.session(key) else { throw ScribeError.transactionNotFound }
        return try await .longJSON(.ok, ["status": "success", "data": .array(found.documents) { $0.json() }])
    }

    @Sendable private func read(_ request: Request, context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        guard let found = try await runtime.store.documents.document(id(context), of: business) else {
            throw ScribeError.resourceNotFound("Document not found")
        }
        return try await answer(.ok, found, writes: false, request, context)
    }

    @Sendable private func archive(_ request: Request, context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        let isGone = try await runtime.store.documents.archiveDocument(id(context), of: business, at: runtime.clock.now)
        return .json(.ok, .success(isGone ? "Document deleted successfully" : "Document already deleted"))
    }

    @Sendable private func publish(_ request: Request, context: ScribeContext) async throws -> Response {
        let published = try await runtime.store.documents.publish(
            id(context), of: try context.requireTransaction(), at: runtime.clock.now)
        return try await .longJSON(.ok, .success("Document published successfully", with: ["data": published.json()]))
    }

    /// Answers with the document, its content and its links.
    private func answer(
        _ status: HTTPResponse.Status, _ found: DocumentRecord, writes: Bool, _ request: Request,
        _ context: ScribeContext
    ) async throws -> Response {
        let links = try links.links(to: found.document.id, for: context.requirePrincipal(), request, context)
        return try await .longJSON(
            status, ["status": "success", "data": found.json(links, writes: writes, hasContent: true)])
    }

    private func id(_ context: ScribeContext) -> DocumentID {
        DocumentID(context.text(of: Self.parameter) ?? "")
    }
}
