/// What a client asks for at init. Everything but `transfer` may be missing (eka.md 2.1).
package struct TransactionRequest: Hashable, Sendable {
    /// How the audio arrives.
    package enum Transfer: String, Sendable, CaseIterable {
        /// Chunks, uploaded while recording.
        case vaded
        /// Whole files, uploaded before or after init.
        case nonVaded = "non-vaded"
        case stream
        case batch
    }

    /// A result document that the client wants.
    package struct RequestedTemplate: Hashable, Sendable {
        package let id: TemplateID
        package let name: String?
        /// `custom`, `default` or `integration`, as the client said.
        package let type: String?

        package init(id: TemplateID, name: String? = nil, type: String? = nil) {
            self.id = id
            self.name = name
            self.type = type
        }
    }

    /// How many languages are recognised together; further ones are left out, with a warning.
    package static let largestLanguageCount = 2

    package var transfer: Transfer
    package var mode: String?
    /// The `s3_url` or `batch_s3_url` as sent, which a replayed init must repeat.
    package var audioURL: String?
    /// Names that a `non-vaded` client announced at init.
    package var announcedFiles: [String]
    /// Language hints, for example `en-IN`; the first is the one to recognise.
    package var inputLanguages: [String]
    package var outputLanguage: String?
    package var templates: [RequestedTemplate]
    package var modelType: String?
    package var speciality: String?
    package var section: String?
    /// Echoed in history.
    package var patientDetails: JSONValue?
    /// Echoed in the status.
    package var additionalData: JSONValue?
    package var version: String?
    /// What a client has told since of why it gave the transaction up.
    package var processingError: JSONValue?
    /// Whether a client has told that it records.
    package var hasStartedRecording: Bool?
    /// The `flavour` header of init, echoed in history.
    package var flavour: String
    /// The way in which it was started.
    package var kind: RecordingKind
    /// What its family keeps of it beside all this; an object.
    package var terms: JSONValue
    package var intake: AudioIntake
    /// Where the audio is; nil where no URL was given that can be read.
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

    /// Whether a language, in any of the API's spellings (`eng`, `en`, `en-IN`), is the one that is spoken.
    package func isSpoken(in language: String) -> Bool {
        let spoken = inputLanguages.first ?? "en"
        return spoken.prefix(2).lowercased() == language.prefix(2).lowercased()
    }

    /// Whose consultation it is, by the caller's own id.
    package var patientID: String? {
        patientDetails?["oid"]?.scalarText.flatMap { $0.isPlain ? $0 : nil }
    }

    /// - Parameter refusing: the names of the fixtures that refuse a step.
    /// - Throws: ``ScribeError/refusedOnPurpose`` when the transaction asked for one of them.
    package func requireFixture(notAmong refusing: Set<String>) throws(ScribeError) {
        if let fixture, refusing.contains(fixture) { throw .refusedOnPurpose }
    }

    /// The name after `fixture:` in `patient_details.visit_id` or `additional_data.fixture`; the first one wins.
    ///
    /// Both can be set from an unmodified SDK, which makes a wanted outcome selectable without a change to the app.
    package var fixture: String? {
        for hint in [patientDetails?["visit_id"]?.stringValue, additionalData?["fixture"]?.stringValue] {
            if let hint, hint.hasPrefix("fixture:") { return String(hint.dropFirst("fixture:".count)) }
        }
        return nil
    }
}
