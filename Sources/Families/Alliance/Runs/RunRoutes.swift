import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/voice/v1/scribe/agent/runs`: streams a note while it is written, for the vendor's web app.
///
/// The format is AG-UI over server-sent events (`apps/web/src/features/session/ag-ui`).
struct RunRoutes: Sendable {
    let sessions: ProtocolSessions

    static func add(to router: WorldRoutes<Self>) {
        router.post("voice/v1/scribe/agent/runs/{template_id}", use: start)
        router.post("voice/v1/scribe/agent/runs/{template_id}/resume", use: resume)
    }

    /// AG-UI's `RunAgentInput`: the web app writes names with `_`, AG-UI's own clients in camel case.
    private struct Input: Decodable {
        /// The session's id.
        let thread: String
        let run: String

        enum CodingKeys: String, CodingKey {
            case thread = "thread_id"
            case run = "run_id"
            case camelThread = "threadId"
            case camelRun = "runId"
        }

        init(from decoder: any Decoder) throws {
            let input = try decoder.container(keyedBy: CodingKeys.self)
            thread = try input.decode(String.self, forKey: input.contains(.camelThread) ? .camelThread : .thread)
            run = try input.decode(String.self, forKey: input.contains(.camelRun) ? .camelRun : .run)
            try Limits.require(run, within: Limits.word, "run_id")
        }
    }

    @Sendable private func start(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (input, key, template) = try await input(request, context)
        let run: DocumentRun
        if let text = request.query.text("document_id") {
            run = try await replay(DocumentID(text), of: key, template, input, context)
        } else if let made = try await sessions.process(key, template) {
            run = DocumentRun(
                sessions: sessions, key: key, template: made.template, document: made.document, id: input.run)
        } else {
            throw AllianceError.templateNotFound
        }
        return run.response(until: context.clientDisconnect())
    }

    /// Streams a known document again, for a client that lost its stream.
    private func replay(
        _ document: DocumentID, of key: Transaction.Key, _ template: TemplateID, _ input: Input,
        _ context: ScribeContext
    ) async throws -> DocumentRun {
        let disconnect = context.clientDisconnect()
        let found = try await sessions.find(key, andAuthored: document, until: disconnect) { documents in
            documents.filter { $0.id == document }
        }
        guard let known = found.documents.first else { throw AllianceError.documentNotFound }
        guard !known.isEdited else {
            throw AllianceError.malformed("That document was edited: read it instead of having it written")
        }
        return DocumentRun(
            sessions: sessions, key: key, template: template, document: document, id: input.run,
            isReplay: known.status.isFinal)
    }

    /// Answers every resume with `paused_run_expired`: no run of this server pauses for input.
    @Sendable private func resume(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (input, key, _) = try await input(request, context)
        _ = try await sessions.isEnded(key)
        let message = "paused run not found or expired: \(key.id.rawValue):\(input.run)"
        let event = await RunEvent.failed(message: message, code: .pausedRunExpired).frame()
        return Response(status: .ok, headers: DocumentRun.headers, body: .init(byteBuffer: event))
    }

    private func input(
        _ request: Request, _ context: ScribeContext
    ) async throws -> (Input, Transaction.Key, TemplateID) {
        let business = try context.requirePrincipal().business
        let input: Input = try await request.decodeJSON(in: context)
        guard TransactionID.isValid(input.thread) else { throw ScribeError.transactionNotFound }
        let template = TemplateID(context.text(of: "template_id") ?? "")
        guard try await sessions.hasTemplate(template, of: business) else { throw AllianceError.templateNotFound }
        return (input, Transaction.Key(business: business, id: TransactionID(input.thread)), template)
    }
}
