/// What a client asks for at init. Everything but `transfer` may be missing (eka-v2.md 2.1).
public struct TransactionRequest: Hashable, Sendable, Codable {
    /// How the audio arrives.
    public enum Transfer: String, Sendable, Codable, CaseIterable {
        /// Chunks, uploaded while recording.
        case vaded
        /// Whole files, uploaded before or after init.
        case nonVaded = "non-vaded"
        case stream
        case batch
    }

    /// A result document that the client wants.
    public struct RequestedTemplate: Hashable, Sendable, Codable {
        public let id: TemplateID
        public let name: String?
        /// `custom`, `default` or `integration`, as the client said.
        public let type: String?

        public init(id: TemplateID, name: String? = nil, type: String? = nil) {
            self.id = id
            self.name = name
            self.type = type
        }
    }

    public var transfer: Transfer
    public var mode: String?
    /// The `s3_url` or `batch_s3_url` as sent, which a replayed init must repeat.
    public var audioURL: String?
    /// Names that a `non-vaded` client announced at init.
    public var announcedFiles: [String]
    /// Language hints, for example `en-IN`; the first is the one to recognise.
    public var inputLanguages: [String]
    public var outputLanguage: String?
    public var templates: [RequestedTemplate]
    public var modelType: String?
    public var speciality: String?
    public var section: String?
    /// Echoed in history.
    public var patientDetails: JSONValue?
    /// Echoed in the status.
    public var additionalData: JSONValue?
    public var version: String?
    /// The `flavour` header of init, echoed in history.
    public var flavour: String

    public init(
        transfer: Transfer, mode: String? = nil, audioURL: String? = nil, announcedFiles: [String] = [],
        inputLanguages: [String] = [], outputLanguage: String? = nil, templates: [RequestedTemplate] = [],
        modelType: String? = nil, speciality: String? = nil, section: String? = nil,
        patientDetails: JSONValue? = nil, additionalData: JSONValue? = nil, version: String? = nil,
        flavour: String = ""
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
    }

    /// Where the audio is, when a URL was given that can be read.
    public var audioLocation: AudioLocation? { audioURL.flatMap(AudioLocation.init(url:)) }

    /// The name after `fixture:` in `patient_details.visit_id` or `additional_data.fixture`; the first one wins.
    ///
    /// Both can be set from an unmodified SDK, which makes a wanted outcome selectable without a change to the app.
    public var fixture: String? {
        for hint in [patientDetails?["visit_id"]?.stringValue, additionalData?["fixture"]?.stringValue] {
            if let hint, hint.hasPrefix("fixture:") { return String(hint.dropFirst("fixture:".count)) }
        }
        return nil
    }
}
