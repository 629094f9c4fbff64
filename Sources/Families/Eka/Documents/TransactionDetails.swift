import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// A session as the web client reads it.
struct TransactionDetails: Encodable {
    private let transaction: Transaction
    private let context: JSONValue
    private let documents: [DocumentItem]
    private let link: UploadLink

    /// - Parameter documents: the newest first.
    init(_ transaction: Transaction, _ context: JSONValue, _ documents: [DocumentItem], _ link: UploadLink) {
        self.link = link
        self.transaction = transaction
        self.context = context
        self.documents = documents
    }

    private enum CodingKeys: String, CodingKey {
        case uuid, status, transfer, flavour, context, documents
        case schemaVersion = "schema_version"
        case uploadURL = "upload_url"
        case session = "session_id"
        case workspace = "wid"
        case createdAt = "created_at"
        case committedAt = "committed_at"
        case expiresAt = "expires_at"
        case requestTemplates = "request_templates"
        case userStatus = "user_status"
        case processingStatus = "processing_status"
        case sessionDetails = "session_details"
        case patientDetails = "patient_details"
        case audioMatrix = "audio_matrix"
        case additionalData = "additional_data"
        case files = "client_generated_files"
        case inputLanguages = "input_language"
        case mode = "consultation_mode"
        case modelType = "model_type"
    }

    func encode(to encoder: any Encoder) throws {
        let request = transaction.request
        var details = encoder.container(keyedBy: CodingKeys.self)
        try details.encode("2026-04-30", forKey: .schemaVersion)
        try details.encode(transaction.id, forKey: .session)
        try details.encode(transaction.owner.user, forKey: .uuid)
        try details.encode(transaction.owner.business, forKey: .workspace)
        try details.encode(Int(transaction.createdAt.timeIntervalSince1970), forKey: .createdAt)
        try details.encode((transaction.committedAt?.timeIntervalSince1970).map { Int($0) }, forKey: .committedAt)
        // As the vendor's server has it: an hour.
        try details.encode(Int(transaction.createdAt.timeIntervalSince1970) + 3600, forKey: .expiresAt)
        try details.encode(RequestedTemplates(request.templates), forKey: .requestTemplates)
        try details.encode(link, forKey: .uploadURL)
        try details.encode(UserStatusWord(transaction).text, forKey: .userStatus)
        try details.encode(transaction.processingStatus.rawValue, forKey: .processingStatus)
        try details.encode(transaction.userStatus == .initialized ? "in-progress" : "processed", forKey: .status)
        try details.encode(request.transfer.rawValue, forKey: .transfer)
        try details.encode(request.flavour, forKey: .flavour)
        let patient = request.patientDetails ?? .object([:])
        try details.encode(patient, forKey: .sessionDetails)
        try details.encode(patient, forKey: .patientDetails)
        try details.encode(AudioMatrix(quality: transaction.audioQuality), forKey: .audioMatrix)
        try details.encode(request.additionalData ?? .object([:]), forKey: .additionalData)
        try details.encode(
            transaction.stopped.files.isEmpty ? request.announcedFiles : transaction.stopped.files, forKey: .files)
        try details.encode(documents, forKey: .documents)
        try details.encode(TransactionContext(context).json, forKey: .context)
        try details.encode(request.inputLanguages, forKey: .inputLanguages)
        try details.encode(request.mode ?? "", forKey: .mode)
        try details.encode(request.modelType ?? "pro", forKey: .modelType)
    }
}

/// The templates that were asked for, by where they are shown.
private struct RequestedTemplates: Encodable {
    struct Item: Encodable {
        let id: TemplateID

        enum CodingKeys: String, CodingKey { case id = "template_id" }
    }

    let visual: [Item]
    let integration: [Item]

    init(_ templates: [TransactionRequest.RequestedTemplate]) {
        func items(areIntegrations: Bool) -> [Item] {
            templates.filter { ($0.type == "integration") == areIntegrations }.map { Item(id: $0.id) }
        }
        visual = items(areIntegrations: false)
        integration = items(areIntegrations: true)
    }
}

/// A document as the documents API shows it.
struct DocumentItem: Encodable {
    /// The links that are told of it, under the names that its clients read.
    struct Presigned {
        let url: String
        let edit: String
        let expiry: Int

        /// - Parameter writes: whether the first of them is the one to write with, as in answers to what was written.
        init(_ links: DocumentLinks.Links, writes: Bool) {
            url = writes ? links.write : links.read
            edit = links.write
            expiry = links.expiry
        }
    }

    private let found: DocumentRecord
    private let hasContent: Bool
    private let presigned: Presigned?

    /// - Parameters:
    ///   - hasContent: lists of documents leave it out.
    ///   - presigned: nil where nobody asked for links.
    init(_ found: DocumentRecord, hasContent: Bool, _ presigned: Presigned? = nil) {
        self.found = found
        self.hasContent = hasContent
        self.presigned = presigned
    }

    init(_ found: DocumentRecord) { self.init(found, hasContent: false) }

    private enum CodingKeys: String, CodingKey {
        case type, status, errors, warnings, publish, lang
        case usage = "usage_information"
        case editorContent = "tiptap_json"
        case storedEditorContent = "tip_tap_data"
        case document = "document_id"
        case session = "session_id"
        case template = "template_id"
        case name = "document_name"
        case kind = "document_type"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case presignedURL = "presigned_url"
        case presignedURLExpiry = "presigned_url_expires_at"
        case downloadURL = "download_url"
        case downloadURLExpiry = "download_url_expires_at"
        case editURL = "edit_url"
        case content = "markdown_data"
        case path = "document_path"
    }

    func encode(to encoder: any Encoder) throws {
        let document = found.document
        var item = encoder.container(keyedBy: CodingKeys.self)
        try item.encode(document.id, forKey: .document)
        try item.encode(found.transaction, forKey: .session)
        try item.encode(document.templateID, forKey: .template)
        try item.encode(document.name, forKey: .name)
        try item.encode(document.format, forKey: .type)
        try item.encode(document.kind.rawValue, forKey: .kind)
        try item.encode(document.status.rawValue, forKey: .status)
        try item.encode(document.errors.map(Problem.init), forKey: .errors)
        try item.encode(document.warnings.map(Problem.init), forKey: .warnings)
        try item.encode(publication, forKey: .publish)
        try item.encode([String: String](), forKey: .usage)
        try item.encode(DocumentPath(document.id, of: found.transaction), forKey: .path)
        try item.encode(Int(found.createdAt.timeIntervalSince1970), forKey: .createdAt)
        try item.encode(Int(found.updatedAt.timeIntervalSince1970), forKey: .updatedAt)
        // Null where nobody asked for them: some clients look for the keys.
        try item.encode(presigned?.url, forKey: .presignedURL)
        try item.encode(presigned?.expiry, forKey: .presignedURLExpiry)
        if let presigned {
            try item.encode(presigned.url, forKey: .downloadURL)
            try item.encode(presigned.expiry, forKey: .downloadURLExpiry)
            try item.encode(presigned.edit, forKey: .editURL)
        }
        try item.encodeIfPresent(document.language, forKey: .lang)
        guard hasContent else { return }
        try item.encode(document.status.isFinal ? document.value : nil, forKey: .content)
        try item.encode(found.editorContent, forKey: .storedEditorContent)
        try item.encodeIfPresent(found.editorContent, forKey: .editorContent)
    }

    private struct Problem: Encodable {
        let code: String
        let msg: String

        init(_ diagnostic: Diagnostic) {
            code = diagnostic.code.rawValue
            msg = diagnostic.message
        }
    }

    /// What the client keeps of it, and when it was published here.
    private var publication: JSONValue {
        guard let publishedAt = found.publishedAt, case .object(var members) = found.publication else {
            return found.publication
        }
        if members["published_at"] == nil {
            members["published_at"] = .integer(Int64(publishedAt.timeIntervalSince1970))
        }
        return .object(members)
    }
}
