import Basics
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Decodes the body that creates a protocol session (medscribe.md 2.1).
///
/// Unknown members are ignored, and null means absent.
struct SessionBody: Decodable {
    let id: TransactionID?
    /// Settings of the session, without those of the request's headers.
    let request: TransactionRequest

    /// Most templates, and so notes, of one protocol session.
    static let maxTemplates = 2
    static let modes = ["consultation", "dictation", "bdic_2025"]
    private static let models = ["pro", "lite"]

    private enum CodingKeys: String, CodingKey {
        case uploadType = "upload_type"
        case templates, model
        case mode = "session_mode"
        case languages = "language_hint"
        case transcriptLanguage = "transcript_language"
        case id = "session_id"
        case additionalData = "additional_data"
        case patientDetails = "patient_details"
        /// The name in the vendor's open backend.
        case sessionDetails = "session_details"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        var request = TransactionRequest(
            session: try fields.decodeWord(forKey: .uploadType, of: UploadType.allCases.map(\.rawValue))
                .flatMap(UploadType.init) ?? fields.missing(.uploadType))
        request.templates = (try fields.templates(.templates, atMost: Self.maxTemplates) ?? [])
            .map { .init(id: $0, type: "custom") }
        request.modelType = try fields.decodeWord(forKey: .model, of: Self.models) ?? request.modelType
        request.mode = try fields.decodeWord(forKey: .mode, of: Self.modes) ?? request.mode
        request.inputLanguages = try fields.languages(.languages) ?? []
        request.outputLanguage = try fields.language(.transcriptLanguage)
        request.additionalData = try fields.decodeEcho(forKey: .additionalData)
        let alias = try fields.decodeEcho(forKey: .sessionDetails)
        request.patientDetails = try fields.decodeEcho(forKey: .patientDetails) ?? alias
        self.request = request
        id = try fields.decodeIfPresent(String.self, forKey: .id).map { text in
            guard (16...64).contains(text.utf8.count), text.utf8.allSatisfy(\.isInIdentifier) else {
                throw ScribeError.invalidRequest(
                    field: CodingKeys.id.rawValue, problem: "must have 16 to 64 letters, digits, - and _")
            }
            return TransactionID(text)
        }
    }
}

/// Decodes the body that changes a protocol session (medscribe.md 2.7).
struct SessionPatchBody: Decodable {
    let patch: TransactionPatch
    let templates: [TemplateID]?
    /// The body has no members.
    let isEmpty: Bool
    /// The body changes a setting that is fixed once the session has ended.
    let isAboutRecording: Bool

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case templates, model
        case mode = "session_mode"
        case languages = "language_hint"
        case transcriptLanguage = "transcript_language"
        case additionalData = "additional_data"
        case patientDetails = "patient_details"
        case sessionDetails = "session_details"
        case userStatus = "user_status"
        case processingStatus = "processing_status"
    }

    private static let userStatuses = ["init", "recording_started", "commit", "stopped", "cancelled"]
    private static let processingStatuses = [
        "success", "in-progress", "system_failure", "request_failure", "cancelled",
    ]

    init(from decoder: any Decoder) throws {
        let names = try decoder.keyNames
        let known = Set(CodingKeys.allCases.map(\.rawValue))
        guard names.allSatisfy(known.contains) else {
            throw ScribeError.invalidRequest(
                field: nil, problem: "may hold \(known.sorted().joined(separator: ", ")) and nothing else")
        }
        isEmpty = names.isEmpty
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        var patch = TransactionPatch()
        let userStatus = try fields.decodeWord(forKey: .userStatus, of: Self.userStatuses)
        let processingStatus = try fields.decodeWord(forKey: .processingStatus, of: Self.processingStatuses)
        patch.isCancellation = [userStatus, processingStatus].contains("cancelled")
        patch.startsRecording = userStatus == "recording_started"
        patch.mode = try fields.decodeWord(forKey: .mode, of: SessionBody.modes)
        patch.modelType = try fields.decodeWord(forKey: .model, of: ["pro", "lite"])
        patch.inputLanguages = try fields.languages(.languages)
        patch.outputLanguage = try fields.language(.transcriptLanguage)
        let alias = try fields.decodeEcho(forKey: .sessionDetails)
        patch.patientDetails = try fields.decodeEcho(forKey: .patientDetails) ?? alias
        patch.additionalData = try fields.decodeEcho(forKey: .additionalData)
        isAboutRecording = patch.mode != nil || patch.modelType != nil
        templates = try fields.templates(.templates, atMost: SessionBody.maxTemplates)
        self.patch = patch
    }
}

/// Reads the members that creating and changing a session have in common.
extension KeyedDecodingContainer {
    fileprivate func missing<Value>(_ key: Key) throws -> Value {
        throw ScribeError.invalidRequest(field: key.stringValue, problem: "is required")
    }

    fileprivate func templates(_ key: Key, atMost limit: Int) throws -> [TemplateID]? {
        guard let ids = try decodeIfPresent([String].self, forKey: key) else { return nil }
        try Limits.require(ids.count, atMost: limit, key.stringValue)
        return ids.removingDuplicates().map { TemplateID($0) }
    }

    /// The known languages among the hints; other hints are dropped.
    fileprivate func languages(_ key: Key) throws -> [String]? {
        guard let hints = try decodeIfPresent([String].self, forKey: key) else { return nil }
        try Limits.require(hints.count, atMost: Limits.languages, key.stringValue)
        return hints.compactMap(SessionLanguage.hinted(by:))
    }

    /// One language: a string, or the first of a list, as some documents show it.
    fileprivate func language(_ key: Key) throws -> String? {
        switch try decodeIfPresent(JSONValue.self, forKey: key) {
        case .string(let text): return TransactionRequest.isLanguage(text) ? text : nil
        case .array(let items):
            return items.first?.stringValue.flatMap { TransactionRequest.isLanguage($0) ? $0 : nil }
        case .null, nil: return nil
        default: throw ScribeError.invalidRequest(field: key.stringValue, problem: "must be a string")
        }
    }
}
