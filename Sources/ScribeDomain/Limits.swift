package import Basics

/// Limits on the amount of data that a client may send or accumulate.
///
/// Each limit is far beyond what any client does, and small enough that one client cannot slow down the others.
/// Anything without a limit here is limited by its request body (1 MB unless `openapi/scribe.yaml` says otherwise).
/// `docs/security.md` lists the limits for readers who meet one.
package enum Limits {
    /// Most files of a transaction, with and without times. 5,000 ten-second chunks fill 13 hours.
    package static let files = 5000
    /// Longest file name, in bytes.
    package static let fileName = 1024
    /// Most templates in one init.
    package static let templates = 100
    package static let languages = 20
    /// Largest recording, in bytes.
    package static let recording = 500 << 20
    /// Longest mode, model, template name and the like, in bytes.
    package static let word = 1024
    /// Longest `s3_url` and `batch_s3_url`, in bytes.
    package static let location = 2048
    /// Largest value that is stored and echoed without interpretation, such as
    /// `additional_data`, in bytes after merging.
    package static let echo = 64 << 10
    /// Largest context of a protocol session, in bytes after merging.
    package static let context = 256 << 10
    /// Most results that one PATCH corrects.
    package static let edits = 200
    /// Most results of a transaction, further templates included.
    package static let results = 200
    /// Most documents that clients write in one session.
    package static let documents = 1000
    /// Most feedback entries of a transaction, one per rated part.
    package static let feedback = 100
    /// Most templates, and most sections, that a business can own.
    package static let ownTemplates = 1000
    package static let sectionsOfTemplate = 200
    /// Longest description or example of a section, in bytes.
    package static let sectionText = 16 << 10
    /// Longest transcript from a client, in bytes: about eight hours of speech.
    package static let transcript = 512 << 10
    /// Most text of a conversation, in bytes; more text begins a new conversation. The
    /// text must fit into a ``transcript``.
    package static let conversation = 400 << 10
    /// Most pictures of a conversation, and the largest picture in bytes of base64.
    package static let photos = 100
    package static let photo = 4 << 20
    package static let allPhotos = 8 << 20
    /// Most stored reasons for a conversation's urgency.
    package static let urgencyReasons = 50
    /// Most memories from one conversation.
    package static let memoriesOfConversation = 50
    /// Most memories of a user.
    package static let memories = 10_000
    /// Most webhook registrations of a business.
    package static let webhooks = 100
    /// Most events that a registration names, and the longest event name in bytes.
    package static let webhookEvents = 50
    package static let webhookEvent = 100
    /// Longest signing key, in bytes.
    package static let signingKey = 1024
    /// Most registered clinicians of a partner.
    package static let clinicians = 1000
    /// Most audio segments of an ambient session.
    package static let segments = 1000
    /// Most sessions of one visit that a request reads together.
    package static let sessionsOfEncounter = 100
    /// Latest chunk time within a session, in seconds.
    package static let sessionLength = 86_400.0

    /// Checks a number of items against a limit.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for more than `limit` items.
    package static func require(_ count: Int, atMost limit: Int, _ field: String) throws(ScribeError) {
        guard count <= limit else { throw .invalidRequest(field: field, problem: "must have at most \(limit) items") }
    }

    /// Checks a text's length in bytes against a limit; nil passes.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a text longer than `limit`.
    package static func require(_ text: String?, within limit: Int, _ field: String) throws(ScribeError) {
        guard text?.utf8.count ?? 0 <= limit else { throw tooLong(limit, field) }
    }

    /// Checks a JSON value's size in bytes against a limit; nil passes.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a value larger than `limit`.
    package static func require(_ value: JSONValue?, within limit: Int, _ field: String) throws(ScribeError) {
        guard value?.size ?? 0 <= limit else { throw tooLong(limit, field) }
    }

    private static func tooLong(_ limit: Int, _ field: String) -> ScribeError {
        .invalidRequest(field: field, problem: "must have at most \(limit) bytes")
    }
}

/// Quotas of one business and one client on shared resources. Nil means no quota.
package struct Quotas: Hashable, Sendable {
    /// Most bytes of stored uploads of a business.
    package var storedBytes: Int?
    /// Most open transactions of a client: not committed and not older than ``Transaction/openLifetime``.
    package var openTransactions: Int?

    package init() {}
}

extension Transaction {
    /// Checks a transaction's stored data against ``Limits``, whichever request sent the data.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` that names the field.
    package func requireWithinLimits() throws(ScribeError) {
        try Limits.require(max(stopped.files.count, committedFiles.count), atMost: Limits.files, "audio_files")
        try Limits.require(stopped.times.count, atMost: Limits.files, "chunk_info")
    }
}

extension TransactionRequest {
    /// Checks an init's data against ``Limits``.
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

    /// Whether a text has the form of a language tag (BCP 47): `en-IN`, `hi`, `zh-Hans-CN`, also `en_IN`.
    /// Only such a text is passed to a recogniser program.
    package static func isLanguage(_ text: String) -> Bool {
        let parts = text.utf8.split(omittingEmptySubsequences: false) { [0x2D, 0x5F].contains($0) }
        guard text.utf8.count <= 35, let first = parts.first, first.allSatisfy(\.isLetter) else { return false }
        return parts.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy { $0.isLetter || $0.isDigit } }
    }
}

extension JSONValue {
    /// Size as JSON without spaces and escapes, in bytes.
    package var size: Int {
        switch self {
        case .null, .bool(true): 4
        case .bool(false): 5
        case .integer(let number): "\(number)".utf8.count
        case .number(let number): "\(number)".utf8.count
        case .digits(let text): text.utf8.count
        case .string(let text): text.utf8.count + 2
        // Brackets, and a comma between two values.
        case .array(let values): values.reduce(max(2, values.count + 1)) { $0 + $1.size }
        case .object(let members):
            members.reduce(max(2, members.count + 1)) { $0 + $1.key.utf8.count + 3 + $1.value.size }
        }
    }
}

extension JSONValue {
    /// Deepest nesting of values that are stored and echoed.
    private static let deepestEcho = 100

    /// Returns this value if it is an object that can be stored and echoed.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for other types and for too deep nesting.
    package func echoable(as field: String) throws(ScribeError) -> JSONValue {
        guard isObject else { throw ScribeError.invalidRequest(field: field, problem: "must be an object") }
        guard isNested(atMost: Self.deepestEcho) else {
            throw ScribeError.invalidRequest(field: field, problem: "is nested too deeply")
        }
        return self
    }
}
