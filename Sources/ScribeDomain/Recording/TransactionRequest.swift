package import Basics

/// Data of an init request. Every field but `transfer` is optional (eka.md 2.1).
package struct TransactionRequest: Hashable, Sendable {
    /// Way in which the audio arrives.
    package enum Transfer: String, Sendable, CaseIterable {
        /// Chunks, uploaded during the recording.
        case vaded
        /// Whole files, uploaded before or after init.
        case nonVaded = "non-vaded"
        case stream
        case batch

        /// Whether files are chunks, numbered in spoken order. Whole files have names that their app chooses.
        package var isChunked: Bool {
            switch self {
            case .vaded, .stream: true
            case .nonVaded, .batch: false
            }
        }
    }

    /// Result document that the client requests.
    package struct RequestedTemplate: Hashable, Sendable {
        package let id: TemplateID
        package let name: String?
        /// Type as the client sent it: `custom`, `default` or `integration`.
        package let type: String?

        package init(id: TemplateID, name: String? = nil, type: String? = nil) {
            self.id = id
            self.name = name
            self.type = type
        }
    }

    /// Most languages of one recognition; further languages are dropped with a warning.
    package static let largestLanguageCount = 2

    package var transfer: Transfer
    package var mode: String?
    /// `s3_url` or `batch_s3_url` as sent; a replayed init must repeat the URL.
    package var audioURL: String?
    /// File names that a `non-vaded` client announced at init.
    package var announcedFiles: [String]
    /// Language hints, for example `en-IN`; recognition uses the first one.
    package var inputLanguages: [String]
    package var outputLanguage: String?
    package var templates: [RequestedTemplate]
    package var modelType: String?
    package var speciality: String?
    package var section: String?
    /// Patient details, echoed in history.
    package var patientDetails: JSONValue?
    /// Additional data, echoed in the status.
    package var additionalData: JSONValue?
    package var version: String?
    /// Reason for the cancellation, sent by the client after init.
    package var processingError: JSONValue?
    /// Whether the client reported that recording has started.
    package var hasStartedRecording: Bool?
    /// `flavour` header of init, echoed in history.
    package var flavour: String
    /// Kind of recording, named by the family that started it.
    package var kind: RecordingKind
    /// Family-specific data of the recording, a JSON object.
    package var terms: JSONValue
    package var intake: AudioIntake
    /// Fixture that an operator chose for the transaction; what the client asks for wins.
    package var assignedFixture: String?
    /// Location of the audio; nil without a readable URL.
    package var audioLocation: AudioLocation?

    package init(
        transfer: Transfer, mode: String? = nil, audioURL: String? = nil, announcedFiles: [String] = [],
        inputLanguages: [String] = [], outputLanguage: String? = nil, templates: [RequestedTemplate] = [],
        modelType: String? = nil, speciality: String? = nil, section: String? = nil,
        patientDetails: JSONValue? = nil, additionalData: JSONValue? = nil, version: String? = nil,
        flavour: String = "", kind: RecordingKind = .transaction, terms: JSONValue = .object([:]),
        intake: AudioIntake = .listed
    ) {
        self.transfer = transfer
        self.mode = mode
        self.audioURL = audioURL
        self.announcedFiles = announcedFiles
        self.inputLanguages = inputLanguages
        self.outputLanguage = outputLanguage
        self.templates = templates
        self.modelType = modelType
        self.speciality = speciality
        self.section = section
        self.patientDetails = patientDetails
        self.additionalData = additionalData
        self.version = version
        self.flavour = flavour
        self.kind = kind
        self.terms = terms
        self.intake = intake
        audioLocation = audioURL.flatMap(AudioLocation.init(url:))
    }

    /// Whether a language, in any spelling of the API (`eng`, `en`, `en-IN`), is the spoken language.
    package func isSpoken(in language: String) -> Bool {
        let spoken = inputLanguages.first ?? "en"
        return spoken.prefix(2).lowercased() == language.prefix(2).lowercased()
    }

    /// Whether the recording is a dictated note, and no conversation: the mode `dictation` (eka.md 6.2).
    package var isDictated: Bool { mode?.lowercased() == "dictation" }

    /// Patient id in the caller's own system.
    package var patientID: String? {
        patientDetails?["oid"]?.scalarText.flatMap { $0.isPlain ? $0 : nil }
    }

    /// Checks that the selected fixture does not refuse this step.
    /// - Parameter refusing: names of the fixtures that refuse the step.
    /// - Throws: ``ScribeError/refusedOnPurpose`` if the transaction selected one of them.
    package func requireFixture(notAmong refusing: Set<String>) throws(ScribeError) {
        if let fixture, refusing.contains(fixture) { throw .refusedOnPurpose }
    }

    /// Fixture name after `fixture:` in `patient_details.visit_id` or `additional_data.fixture`; the first one wins.
    ///
    /// An unmodified SDK can set both fields, so that a test can select an outcome without a change to the app.
    package var fixture: String? {
        for hint in [patientDetails?["visit_id"]?.stringValue, additionalData?["fixture"]?.stringValue] {
            if let hint, hint.hasPrefix("fixture:") { return String(hint.dropFirst("fixture:".count)) }
        }
        return assignedFixture
    }
}
