/// How much of anything a client may send, or build up by sending more: far beyond what any client does, and small
/// enough that one of them costs the others nothing. What is not here is limited by its body (1 MB unless
/// `openapi/scribe.yaml` says otherwise). `docs/security.md` lists them for those who meet one.
package enum Limits {
    /// Files of a transaction, with and without times. Ten-second chunks fill 13 hours.
    package static let files = 5000
    /// A file's name, in bytes.
    package static let fileName = 1024
    /// Templates that one init asks for.
    package static let templates = 100
    package static let languages = 20
    /// Of one recording, in bytes.
    package static let recording = 500 << 20
    /// A mode, a model, a name of a template and the like, in bytes.
    package static let word = 1024
    /// `s3_url` and `batch_s3_url`, in bytes.
    package static let location = 2048
    /// What is kept and echoed without being understood, such as `additional_data`, in bytes, after merging.
    package static let echo = 64 << 10
    /// A session's context, in bytes, after merging.
    package static let context = 256 << 10
    /// Results that one PATCH corrects.
    package static let edits = 200
    /// Results of a transaction, further templates included.
    package static let results = 200
    /// Documents that clients write in one session.
    package static let documents = 1000
    /// Feedback on a transaction, each on something else.
    package static let feedback = 100
    /// A business's own templates, and its own sections.
    package static let ownTemplates = 1000
    package static let sectionsOfTemplate = 200
    /// What belongs in a section, or an example of it, in bytes.
    package static let sectionText = 16 << 10
    /// A transcript that a client supplies, in bytes: some eight hours of speech.
    package static let transcript = 512 << 10
    /// All text of a conversation, in bytes; after that another begins. It is to fit a ``transcript``.
    package static let conversation = 400 << 10
    /// Pictures of a conversation, and each in bytes as base64.
    package static let photos = 100
    package static let photo = 4 << 20
    package static let allPhotos = 8 << 20
    /// What is kept of what makes a conversation urgent.
    package static let urgencyReasons = 50
    /// What is remembered of one conversation.
    package static let memoriesOfConversation = 50
    /// What is remembered of a user.
    package static let memories = 10_000
    /// Registrations of a business.
    package static let webhooks = 100
    /// Events that a registration names, and each in bytes.
    package static let webhookEvents = 50
    package static let webhookEvent = 100
    /// In bytes.
    package static let signingKey = 1024
    /// Registered clinicians of a partner.
    package static let clinicians = 1000
    /// Stretches of an ambient session's audio.
    package static let segments = 1000
    /// Sessions of one visit that are looked at together.
    package static let sessionsOfEncounter = 100
    /// How far a chunk may lie in a session, in seconds.
    package static let sessionLength = 86_400.0

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` when there are more than that.
    package static func require(_ count: Int, atMost limit: Int, _ field: String) throws(ScribeError) {
        guard count <= limit else { throw .invalidRequest(field: field, problem: "must have at most \(limit) items") }
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` when the text is longer than that.
    package static func require(_ text: String?, within limit: Int, _ field: String) throws(ScribeError) {
        guard text?.utf8.count ?? 0 <= limit else { throw tooLong(limit, field) }
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` when the value takes more than that.
    package static func require(_ value: JSONValue?, within limit: Int, _ field: String) throws(ScribeError) {
        guard value?.size ?? 0 <= limit else { throw tooLong(limit, field) }
    }

    private static func tooLong(_ limit: Int, _ field: String) -> ScribeError {
        .invalidRequest(field: field, problem: "must have at most \(limit) bytes")
    }
}

/// What one client may take of what all share. Nil: as much as there is.
package struct Quotas: Hashable, Sendable {
    /// Bytes of the uploads of a business, of those that are stored.
    package var storedBytes: Int?
    /// Transactions of a client that are neither committed nor older than ``Transaction/openLifetime``.
    package var openTransactions: Int?

    package init() {}
}

extension Transaction {
    /// What is kept of a transaction has limits, by whichever request it came (``Limits``).
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` that names the field.
    package func requireWithinLimits() throws(ScribeError) {
        try Limits.require(max(stopped.files.count, committedFiles.count), atMost: Limits.files, "audio_files")
        try Limits.require(stopped.times.count, atMost: Limits.files, "chunk_info")
    }
}

extension TransactionRequest {
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` that names the field.
    package func requireWithinLimits() throws(ScribeError) {
        try Limits.require(announcedFiles.count, atMost: Limits.files, "client_generated_files")
        for name in announcedFiles { try Limits.require(name, within: Limits.fileName, "client_generated_files") }
        try Limits.require(audioURL, within: Limits.location, transfer == .vaded ? "s3_url" : "batch_s3_url")
        try Limits.require(templates.count, atMost: Limits.templates, "output_format_template")
        for template in templates {
            try Limits.require(template.name, within: Limits.word, "output_format_template")
            try Limits.require(template.type, within: Limits.word, "output_format_template")
        }
        try Limits.require(inputLanguages.count, atMost: Limits.languages, "input_language")
        let languages = inputLanguages.map { ($0, "input_language") } + [(outputLanguage ?? "en", "output_language")]
        for (language, field) in languages where !Self.isLanguage(language) {
            throw .invalidRequest(field: field, problem: "must be a language such as en-IN")
        }
        let words: [(String?, String)] = [
            (mode, "mode"), (modelType, "model_type"), (speciality, "speciality"), (section, "Section"),
            (version, "version"), (flavour, "flavour"),
        ]
        for (word, field) in words { try Limits.require(word, within: Limits.word, field) }
        let objects: [(JSONValue?, String)] = [
            (patientDetails, "patient_details"), (additionalData, "additional_data"),
            (processingError, "processing_error"),
        ]
        for (object, field) in objects { try Limits.require(object, within: Limits.echo, field) }
    }

    /// Whether a text is a language's tag by its form (BCP 47), which a recogniser's program may be given: `en-IN`,
    /// `hi`, `zh-Hans-CN`, and `en_IN` as some write it.
    package static func isLanguage(_ text: String) -> Bool {
        let parts = text.utf8.split(omittingEmptySubsequences: false) { [0x2D, 0x5F].contains($0) }
        guard text.utf8.count <= 35, let first = parts.first, first.allSatisfy(\.isLetter) else { return false }
        return parts.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy { $0.isLetter || $0.isDigit } }
    }
}

extension JSONValue {
    /// About how many bytes it takes as JSON.
    package var size: Int {
        switch self {
        case .null, .bool, .integer, .number: 8
        case .string(let text): text.utf8.count + 2
        case .array(let values): values.reduce(2) { $0 + $1.size + 1 }
        case .object(let members): members.reduce(2) { $0 + $1.key.utf8.count + $1.value.size + 4 }
        }
    }
}

extension JSONValue {
    /// How deep what is stored and echoed may be nested.
    private static let deepestEcho = 100

    /// This value, if it is an object that can be stored and echoed.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    package func echoable(as field: String) throws(ScribeError) -> JSONValue {
        guard isObject else { throw ScribeError.invalidRequest(field: field, problem: "must be an object") }
        guard isNested(atMost: Self.deepestEcho) else {
            throw ScribeError.invalidRequest(field: field, problem: "is nested too deeply")
        }
        return self
    }
}
