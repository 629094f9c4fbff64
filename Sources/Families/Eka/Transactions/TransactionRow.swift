import Foundation
import ScribeDomain
import ScribeHTTP

/// A transaction as it is read by its id (eka.md 2.7).
struct TransactionRow: Encodable {
    let transaction: Transaction

    private enum CodingKeys: String, CodingKey {
        case uuid, oid, flavour, version, mode, transfer, speciality, section
        case transaction = "txn_id"
        case business = "b_id"
        case client = "c_id"
        case createdAt = "created_at"
        case userStatus = "user_status"
        case processingStatus = "processing_status"
        case patientDetails = "patient_details"
        case processingError = "processing_error"
        case audioURL = "s3_url"
        case batchURL = "batch_s3_url"
        case inputLanguages = "input_language"
        case outputLanguage = "output_language"
        case templates = "output_format_template"
        case modelType = "model_type"
        case additionalData = "additional_data"
        case generatedFiles = "client_generated_files"
        case uploadedFiles = "client_uploaded_files"
        case committedAt = "commit_at"
        case processedAt = "processed_at"
    }

    private struct RequestedTemplate: Encodable {
        let template: TransactionRequest.RequestedTemplate

        enum CodingKeys: String, CodingKey {
            case id = "template_id"
            case name = "template_name"
            case type = "template_type"
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(template.id, forKey: .id)
            try container.encodeIfPresent(template.name, forKey: .name)
            try container.encodeIfPresent(template.type, forKey: .type)
        }
    }

    func encode(to encoder: any Encoder) throws {
        let request = transaction.request
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(transaction.id, forKey: .transaction)
        try row.encode(transaction.owner.business, forKey: .business)
        try row.encode(transaction.owner.user, forKey: .uuid)
        try row.encode(transaction.owner.doctor, forKey: .oid)
        try row.encode(transaction.createdAt.apiTime, forKey: .createdAt)
        try row.encode(request.flavour, forKey: .flavour)
        try row.encode(request.version ?? "", forKey: .version)
        try row.encode(request.mode ?? "", forKey: .mode)
        try row.encode(UserStatusWord(transaction).text, forKey: .userStatus)
        try row.encode(transaction.processingStatus.rawValue, forKey: .processingStatus)
        try row.encodeIfPresent(request.patientDetails, forKey: .patientDetails)
        try row.encode(transaction.owner.client, forKey: .client)
        try row.encode(request.transfer.rawValue, forKey: .transfer)
        try row.encodeIfPresent(request.audioURL, forKey: request.transfer == .vaded ? .audioURL : .batchURL)
        try row.encode(request.inputLanguages, forKey: .inputLanguages)
        try row.encodeIfPresent(request.outputLanguage, forKey: .outputLanguage)
        try row.encode(request.templates.map(RequestedTemplate.init), forKey: .templates)
        try row.encode(request.modelType ?? "pro", forKey: .modelType)
        try row.encodeIfPresent(request.speciality, forKey: .speciality)
        try row.encodeIfPresent(request.section, forKey: .section)
        try row.encode(request.additionalData ?? .object([:]), forKey: .additionalData)
        let generated = transaction.stopped.files.isEmpty ? request.announcedFiles : transaction.stopped.files
        try row.encode(generated, forKey: .generatedFiles)
        try row.encode(transaction.committedFiles, forKey: .uploadedFiles)
        try row.encodeIfPresent(request.processingError, forKey: .processingError)
        try row.encodeIfPresent(transaction.committedAt?.apiTime, forKey: .committedAt)
        try row.encodeIfPresent(transaction.processedAt?.apiTime, forKey: .processedAt)
    }
}
