import Basics
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeStore

extension Transaction {
    /// Encodes the transaction as the web client reads a session.
    /// - Parameters:
    ///   - documents: Newest first.
    ///   - link: nil if no family takes audio by links.
    ///   - lifetime: nil if the transaction may stay open for ever.
    func details(
        _ context: JSONValue, _ documents: JSON, _ link: UploadLink?, lifetime: RecordingLifetime?
    ) -> JSON {
        func templates(areIntegrations: Bool) -> JSON {
            .array(request.templates.filter { ($0.type == "integration") == areIntegrations }) {
                ["template_id": .string($0.id.rawValue)]
            }
        }
        // One hour, as on the vendor's server.
        let expiry = (lifetime ?? RecordingLifetime(3600)).end(begun: createdAt, lastAudio: lastAudioAt)
        let patient = JSON.value(request.patientDetails ?? .object([:]))
        return [
            "schema_version": "2026-04-30",
            "session_id": .string(id.rawValue),
            "uuid": .string(owner.user.rawValue),
            "wid": .string(owner.business.rawValue),
            "created_at": .integer(Int(saturating: createdAt.timeIntervalSince1970)),
            "committed_at": committedAt.map { JSON.integer(Int(saturating: $0.timeIntervalSince1970)) }.orNull,
            "expires_at": .integer(Int(saturating: expiry.timeIntervalSince1970)),
            "request_templates": [
                "visual": templates(areIntegrations: false), "integration": templates(areIntegrations: true),
            ],
            "upload_url": (link?.json).orNull,
            "user_status": .string(userStatusWord),
            "processing_status": .string(processingStatus.rawValue),
            "status": .string(userStatus == .initialized ? "in-progress" : "processed"),
            "transfer": .string(request.transfer.rawValue),
            "flavour": .string(request.flavour),
            "session_details": patient,
            "patient_details": patient,
            "audio_matrix": audioMatrix,
            "additional_data": .value(request.additionalData ?? .object([:])),
            "client_generated_files": .array(generatedFiles, JSON.string),
            "documents": documents,
            "context": .value(TransactionContext(context).json),
            "input_language": .array(request.inputLanguages, JSON.string),
            "consultation_mode": .string(request.mode ?? ""),
            "model_type": .string(request.modelType ?? "pro"),
        ]
    }
}

extension DocumentRecord {
    /// Encodes the document as the documents API shows it.
    /// - Parameters:
    ///   - links: nil if the client asked for no links.
    ///   - writes: `presigned_url` is the write link, as in answers to a write.
    ///   - hasContent: Includes the content; lists of documents leave it out.
    func json(_ links: DocumentLinks.Links? = nil, writes: Bool = false, hasContent: Bool = false) -> JSON {
        let presigned = links.map { JSON.string(writes ? $0.write : $0.read) }
        let expiry = links.map { JSON.integer($0.expiry) }
        let item: JSON = [
            "document_id": .string(document.id.rawValue),
            "session_id": .string(transaction.rawValue),
            "template_id": .string(document.templateID.rawValue),
            "document_name": .string(document.name),
            "type": .string(document.format.rawValue),
            "document_type": .string(document.shownKind.rawValue),
            "status": .string(document.status.rawValue),
            "errors": .array(document.errors, Self.problem),
            "warnings": .array(document.warnings, Self.problem),
            "publish": .value(publicationWithTime),
            "usage_information": [:],
            "document_path": document.id.path(in: transaction),
            "created_at": .integer(Int(saturating: createdAt.timeIntervalSince1970)),
            "updated_at": .integer(Int(saturating: updatedAt.timeIntervalSince1970)),
            // Null without links: some SDKs require the keys.
            "presigned_url": presigned.orNull,
            "presigned_url_expires_at": expiry.orNull,
            "download_url": presigned,
            "download_url_expires_at": expiry,
            "edit_url": links.map { .string($0.write) },
            "lang": document.language.map(JSON.string),
        ]
        guard hasContent else { return item }
        let content = document.status.isFinal ? document.value : nil
        return item.adding([
            "markdown_data": content.map(JSON.string).orNull, "tip_tap_data": editorContent.map(JSON.value).orNull,
            "tiptap_json": editorContent.map(JSON.value),
        ])
    }

    private static func problem(_ diagnostic: Diagnostic) -> JSON {
        ["code": .string(diagnostic.code.rawValue), "msg": .string(diagnostic.message)]
    }

    /// The client's own publication object; the server's publication time fills in for a missing `published_at`.
    private var publicationWithTime: JSONValue {
        guard let publishedAt, case .object(var members) = publication else { return publication }
        if members["published_at"] == nil {
            members["published_at"] = .integer(Int64(saturating: publishedAt.timeIntervalSince1970))
        }
        return .object(members)
    }
}
