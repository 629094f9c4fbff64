import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// A session as its client reads it (medscribe.md 2.2). What is optional is left out where it is not known, for the web
/// SDK takes no null (row 47).
struct SessionAnswer: Encodable {
    private let found: Sessions.Found
    private let state: SessionState
    private let link: UploadLink
    private let lifetime: TimeInterval

    init(_ found: Sessions.Found, _ state: SessionState, _ link: UploadLink, lifetime: TimeInterval) {
        self.found = found
        self.state = state
        self.link = link
        self.lifetime = lifetime
    }

    private enum CodingKeys: String, CodingKey {
        case status, message, transcript, templates, error
        case session = "session_id"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case expiredAt = "expired_at"
        case uploadURL = "upload_url"
        case provider = "storage_provider"
        case count = "audio_files_received"
        case files = "audio_files"
        case processed = "audio_files_processed"
        case additionalData = "additional_data"
        case patientDetails = "patient_details"
        case completedAt = "completed_at"
        case model = "model_used"
        case language = "language_detected"
        case problems = "processing_errors"
    }

    private struct Problem: Encodable {
        let type: String
        let message: String
    }

    private struct Failure: Encodable {
        let code: String
        let message: String
    }

    func encode(to encoder: any Encoder) throws {
        let (transaction, request) = (found.transaction, found.transaction.request)
        let expiry = transaction.createdAt.addingTimeInterval(lifetime)
        var answer = encoder.container(keyedBy: CodingKeys.self)
        try answer.encode(transaction.id, forKey: .session)
        try answer.encode(state.word, forKey: .status)
        try answer.encode(transaction.createdAt.apiTime, forKey: .createdAt)
        try answer.encode(expiry.apiTime, forKey: .expiresAt)
        try answer.encode(found.files.count, forKey: .count)
        try answer.encode(found.files, forKey: .files)
        try answer.encode(additionalData, forKey: .additionalData)
        try answer.encodeIfPresent(request.patientDetails, forKey: .patientDetails)
        try answer.encode(found.transcript, forKey: .transcript)
        if state == .expired {
            try answer.encode(expiry.apiTime, forKey: .expiredAt)
            try answer.encode("The session was never ended, and its time is over", forKey: .message)
            // A list: an object would hide from both SDKs what is said (row 46).
            return try answer.encode([String](), forKey: .templates)
        }
        try answer.encode(link, forKey: .uploadURL)
        try answer.encodeIfPresent(link.provider, forKey: .provider)
        guard state.isFinal else { return }
        try answer.encode(transaction.processedAt?.apiTime, forKey: .completedAt)
        try answer.encode(request.modelType ?? "pro", forKey: .model)
        try answer.encode(String((request.inputLanguages.first ?? "en").prefix(2)), forKey: .language)
        try answer.encode(found.files.count, forKey: .processed)
        // Of one that was given up nothing will ever be written.
        let notes = state == .cancelled ? [] : found.documents.filter { $0.kind != .transcript }
        try answer.encode(notes.map { [$0.templateID.rawValue: SessionDocument($0)] }, forKey: .templates)
        let problems = found.documents.flatMap(\.errors)
        switch state {
        case .partial:
            try answer.encode(
                problems.map { Problem(type: $0.code.rawValue, message: $0.message) }, forKey: .problems)
        case .failed:
            let first = problems.first
            try answer.encode(
                Failure(
                    code: first?.code.rawValue ?? "processing_failed",
                    message: first?.message ?? "The session could not be processed"), forKey: .error)
        case .cancelled:
            try answer.encode(Failure(code: "cancelled", message: "The session was cancelled"), forKey: .error)
        case .initialized, .recording, .expired, .processing, .completed: break
        }
    }

    /// What the client keeps, and how the session was started.
    private var additionalData: JSONValue {
        var members: [String: JSONValue] = [:]
        if case .object(let own)? = found.transaction.request.additionalData { members = own }
        let request = found.transaction.request
        let terms =
            request.session ?? SessionTerms(uploadType: .chunked, templates: request.templates.map(\.id.rawValue))
        members["_protocol"] = .object([
            "version": .string("0.1"), "upload_type": .string(terms.uploadType.rawValue),
            "communication_protocol": .string(terms.uploadType.protocolName),
            "requested_templates": .array(terms.templates.map { .string($0) }),
        ])
        return .object(members)
    }
}

/// One result of a session.
private struct SessionDocument: Encodable {
    private struct Problem: Encodable {
        let type: String
        let code: String
        let message: String

        init(_ diagnostic: Diagnostic) {
            type = diagnostic.code.rawValue
            code = diagnostic.code.rawValue
            message = diagnostic.message
        }
    }

    private let status: String
    private let data: JSONValue
    private let document: DocumentID
    private let kind: String
    private let errors: [Problem]
    private let warnings: [Problem]
    private let publish: [String: String] = [:]
    private let error: Problem?

    private enum CodingKeys: String, CodingKey {
        case status, data, errors, warnings, publish, error
        case document = "document_id"
        case kind = "document_type"
    }

    init(_ found: ResultDocument) {
        status = found.status.rawValue
        document = found.id
        kind = found.kind.rawValue
        errors = found.errors.map(Problem.init)
        warnings = found.warnings.map(Problem.init)
        error = errors.first
        data = found.status.isUsable ? Self.data(found.value ?? "") : .null
    }

    /// What is JSON as JSON, and the text else.
    private static func data(_ text: String) -> JSONValue {
        let first = text.utf8.first { $0 > 0x20 }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = JSONDocument.untrusted(Data(text.utf8), as: JSONValue.self)
        else { return .string(text) }
        return value
    }
}
