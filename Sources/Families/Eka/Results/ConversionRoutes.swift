import Basics
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `POST /voice/api/v1/transaction/{txn}/convert-to-template`: writes a note in another template (eka.md 2.6).
struct ConversionRoutes: Sendable {
    private static let templateParameter = "template_id"
    /// Languages that a note can be converted to.
    private static let targetLanguages = ["eng", "hi", "ta", "te", "bn", "mr", "gu", "kn", "ml", "pa", "as"]

    let transactions: Transactions
    let unknown: UnknownOptionLog

    static func add(to router: WorldRoutes<Self>) {
        router.post("voice/api/v1/transaction/{txn_id}/convert-to-template", use: convert)
        router.post("voice/api/v1/transaction/{txn_id}/convert-to-template/{template_id}", use: convert)
    }

    /// Decodes the body, which clients may leave out altogether (C-107).
    private struct Body: Decodable {
        var templateID: String?
        var transcript: String?
        var targetLanguage: String?

        enum CodingKeys: String, CodingKey {
            case transcript
            case templateID = "template_id"
            case targetLanguage = "target_language"
        }
    }

    @Sendable private func convert(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let body = try await request.decodeOptionalJSON(as: Body.self, in: context) ?? Body()
        let pathTemplate = context.text(of: Self.templateParameter)
        if pathTemplate == nil, context.parameters.get(Self.templateParameter) != nil {
            throw ScribeError.invalidRequest(field: Self.templateParameter, problem: "is not a template id")
        }
        let wanted = [pathTemplate, body.templateID].compactMap(\.self).first { !$0.isEmpty }
        if let wanted, !TemplateID.isValid(wanted) {
            throw ScribeError.invalidRequest(field: Self.templateParameter, problem: "is not a template id")
        }
        let language = body.targetLanguage.flatMap { $0.isEmpty ? nil : $0.lowercased() }
        if let language, !Self.targetLanguages.contains(language) {
            let known = Self.targetLanguages.joined(separator: ", ")
            throw ScribeError.invalidRequest(field: "target_language", problem: "must be one of \(known)")
        }
        var source = ConversionSource.recording
        if let transcript = body.transcript, !transcript.isEmpty { source = .transcript(transcript.storable) }
        let made: (template: TemplateID, document: DocumentID)
        do {
            made = try await transactions.convert(
                key, to: wanted.map { TemplateID($0) }, in: language, from: source)
        } catch ScribeError.transactionNotFound {
            // 400, like every error of a conversion (2.6).
            throw EkaError.polledTransactionNotFound
        }
        if ResultDocument.translationLanguage(of: made.template) == nil,
            let template = try await transactions.unknownTemplate(among: [made.template], of: key.business)
        {
            unknown.logUnknown(template, by: try context.requirePrincipal().client, context)
        }
        let (template, document) = (JSON.string(made.template.rawValue), JSON.string(made.document.rawValue))
        let (status, word, message, templates): (HTTPResponse.Status, JSON, JSON, JSON?) =
            switch source {
            case .recording: (.ok, "success", "Template generation in progress", nil)
            case .transcript:
                (
                    .accepted, "in-progress", "Transcript upload started in background",
                    [["template_id": template, "document_id": document]]
                )
            }
        return .json(
            status,
            [
                "status": word, "message": message, "txn_id": .string(key.id.rawValue),
                "template_id": template, "b_id": .string(key.business.rawValue), "document_id": document,
                "templates": templates,
            ])
    }
}
