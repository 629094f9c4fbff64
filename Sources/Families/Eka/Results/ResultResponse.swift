import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// The answer to a poll, in the shape that every client can decode (eka.md section 5).
struct ResultResponse {
    let status: HTTPResponse.Status
    let body: Body

    init(
        _ transaction: Transaction, _ documents: [ResultDocument], _ query: ResultQuery, _ profile: ClientProfile
    ) {
        let outcome = documents.outcome
        var data = ResultData(transaction)
        if outcome == .inProgress, !query.isImmediate {
            // Mostly no list at all: an older iOS client takes an empty one for the end (C-44).
            if profile.hasListsWhilePending { data.fill(with: [], for: profile) }
            status = .accepted
            body = Body(data: data)
            return
        }
        data.fill(with: documents, for: profile)
        switch outcome {
        case .inProgress:
            status = .ok
            body = Body(data: data, status: "in-progress")
        case .success:
            status = .ok
            body = Body(data: data, status: "success")
        case .partial:
            status = query.isImmediate ? .ok : .partialContent
            body = Body(data: data, status: "partial_success")
        case .failure where query.isImmediate:
            status = .ok
            body = Body(data: data, status: "failed")
        case .failure:
            status = HTTPResponse.Status(code: profile.allFailedStatus)
            body = Body(
                data: data, status: "failed", error: profile.allFailedStatus >= 500 ? Body.Failure(documents) : nil)
        }
    }

    struct Body: Encodable {
        struct Failure: Encodable {
            let code: String
            let msg: String
            let message: String
            let displayMessage: String

            enum CodingKeys: String, CodingKey {
                case code, msg, message
                case displayMessage = "display_message"
            }

            /// The message says why: the web SDKs hand their app nothing else.
            init(_ documents: [ResultDocument]) {
                code = "output_not_available"
                message = documents.lazy.flatMap(\.errors).first?.message ?? "No output is available"
                msg = message
                displayMessage = message
            }
        }

        let data: ResultData
        var status: String?
        var error: Failure?
    }
}

/// `data` of a result.
struct ResultData: Encodable {
    private let transaction: TransactionID
    private let createdAt: String
    private let additionalData: JSONValue
    private let quality: Double?
    private var output: [ResultItem]?
    private var templateResults: TemplateResults?
    private var audioMatrix: AudioMatrix?

    private struct TemplateResults: Encodable {
        let custom: [ResultItem]
        let integration: [ResultItem]
        let transcript: [ResultItem]
    }

    enum CodingKeys: String, CodingKey {
        case output
        case createdAt = "created_at"
        case additionalData = "additional_data"
        case templateResults = "template_results"
        case audioMatrix = "audio_matrix"
    }

    init(_ transaction: Transaction) {
        self.transaction = transaction.id
        createdAt = transaction.createdAt.apiTime
        additionalData = transaction.request.additionalData ?? .object([:])
        quality = transaction.audioQuality
    }

    /// Every note goes into `output`, which some clients read (C-31), and into its bucket, which others read (C-32).
    mutating func fill(with documents: [ResultDocument], for profile: ClientProfile) {
        let items = { [transaction] (kinds: Set<ResultDocument.Kind>) in
            documents.filter { kinds.contains($0.kind) }.map { ResultItem($0, of: transaction, profile) }
        }
        // Notes and contexts are there only for those who ask for one by its id.
        let written: Set<ResultDocument.Kind> = [.custom, .notes, .context]
        output = items(written.union([.integration]))
        templateResults = TemplateResults(
            custom: items(written), integration: items([.integration]), transcript: items([.transcript])
        )
        audioMatrix = AudioMatrix(quality: quality)
    }
}

/// How the audio was: empty while nobody knows, never a word (C-53).
struct AudioMatrix: Encodable {
    let quality: Double?

    private enum CodingKeys: CodingKey { case quality }

    func encode(to encoder: any Encoder) throws {
        var matrix = encoder.container(keyedBy: CodingKeys.self)
        try matrix.encodeIfPresent(quality.map { ($0 * 1000).rounded() / 1000 }, forKey: .quality)
    }
}

/// One result document as clients decode it (eka.md 5.1).
struct ResultItem: Encodable {
    private let document: ResultDocument
    private let transaction: TransactionID
    private let profile: ClientProfile

    init(_ document: ResultDocument, of transaction: TransactionID, _ profile: ClientProfile) {
        self.transaction = transaction
        self.document = document
        self.profile = profile
    }

    enum CodingKeys: String, CodingKey {
        case type, name, status, value, errors, warnings, lang
        case templateID = "template_id"
        case documentID = "document_id"
        case documentType = "document_type"
        case path = "document_path"
    }

    private struct DiagnosticBody: Encodable {
        let type: String
        let code: String
        let msg: String
    }

    func encode(to encoder: any Encoder) throws {
        var item = encoder.container(keyedBy: CodingKeys.self)
        try item.encode(document.templateID, forKey: .templateID)
        try item.encode(document.id, forKey: .documentID)
        try item.encode(document.kind.rawValue, forKey: .documentType)
        try item.encode(document.format.rawValue, forKey: .type)
        try item.encode(document.name, forKey: .name)
        try item.encode(statusWord, forKey: .status)
        // Standard base64, padded, in one line (C-55); null when there is nothing, never an object (C-43).
        let value = document.status.isFinal ? document.value : nil
        try item.encode(value.map { Data($0.utf8).base64EncodedString() }, forKey: .value)
        try item.encodeIfPresent(document.language, forKey: .lang)
        try item.encode(DocumentPath(document.id, of: transaction), forKey: .path)
        switch profile.diagnosticStyle {
        case .objects:
            try item.encode(document.errors.map { body($0, "error") }, forKey: .errors)
            try item.encode(document.warnings.map { body($0, "warning") }, forKey: .warnings)
        case .strings:
            try item.encode(document.errors.map(\.message), forKey: .errors)
            try item.encode(document.warnings.map(\.message), forKey: .warnings)
        }
    }

    private var statusWord: String {
        switch document.status {
        case .failure: profile.failureWord
        case .partialSuccess where !profile.knowsPartialSuccess: ResultDocument.Status.success.rawValue
        case .inProgress, .success, .partialSuccess: document.status.rawValue
        }
    }

    private func body(_ diagnostic: Diagnostic, _ type: String) -> DiagnosticBody {
        DiagnosticBody(type: type, code: diagnostic.code.rawValue, msg: diagnostic.message)
    }
}
