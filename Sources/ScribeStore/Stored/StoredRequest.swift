import ScribeDomain

/// JSON of a transaction's `request` column. Databases of every version since the first have these keys, and SQL reads
/// some of them: they stay the same when a property of the domain is renamed.
struct StoredRequest: Codable {
    private let request: TransactionRequest

    init(_ request: TransactionRequest) { self.request = request }

    var value: TransactionRequest { request }

    private enum CodingKeys: String, CodingKey {
        case transfer = "transfer"
        case mode = "mode"
        case audioURL = "audioURL"
        case announcedFiles = "announcedFiles"
        case assignedFixture = "assignedFixture"
        /// SQL reads this key.
        case inputLanguages = "inputLanguages"
        case outputLanguage = "outputLanguage"
        case templates = "templates"
        /// SQL reads this key.
        case modelType = "modelType"
        case speciality = "speciality"
        case section = "section"
        /// SQL reads this key.
        case patientDetails = "patientDetails"
        case additionalData = "additionalData"
        /// SQL reads this key, and those of `mode` and `flavour`.
        case version = "version"
        case processingError = "processingError"
        case hasStartedRecording = "hasStartedRecording"
        case flavour = "flavour"
        /// SQL reads this key. Missing for ``AudioIntake/listed``.
        case intake = "intake"
    }

    private struct Template: Codable {
        let id: TemplateID
        let name: String?
        let type: String?

        enum CodingKeys: String, CodingKey {
            case id = "id"
            case name = "name"
            case type = "type"
        }
    }

    init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        let word = try stored.decode(String.self, forKey: .transfer)
        guard let transfer = TransactionRequest.Transfer(rawValue: word) else {
            throw DecodingError.dataCorruptedError(forKey: .transfer, in: stored, debugDescription: "an unknown word")
        }
        var request = TransactionRequest(
            transfer: transfer, mode: try stored.decodeIfPresent(String.self, forKey: .mode),
            audioURL: try stored.decodeIfPresent(String.self, forKey: .audioURL),
            announcedFiles: try stored.decode([String].self, forKey: .announcedFiles),
            inputLanguages: try stored.decode([String].self, forKey: .inputLanguages),
            outputLanguage: try stored.decodeIfPresent(String.self, forKey: .outputLanguage),
            templates: try stored.decode([Template].self, forKey: .templates).map {
                .init(id: $0.id, name: $0.name, type: $0.type)
            },
            modelType: try stored.decodeIfPresent(String.self, forKey: .modelType),
            speciality: try stored.decodeIfPresent(String.self, forKey: .speciality),
            section: try stored.decodeIfPresent(String.self, forKey: .section),
            patientDetails: try stored.decodeIfPresent(JSONValue.self, forKey: .patientDetails),
            additionalData: try stored.decodeIfPresent(JSONValue.self, forKey: .additionalData),
            version: try stored.decodeIfPresent(String.self, forKey: .version),
            flavour: try stored.decode(String.self, forKey: .flavour)
        )
        request.processingError = try stored.decodeIfPresent(JSONValue.self, forKey: .processingError)
        request.assignedFixture = try stored.decodeIfPresent(String.self, forKey: .assignedFixture)
        request.hasStartedRecording = try stored.decodeIfPresent(Bool.self, forKey: .hasStartedRecording)
        if let word = try stored.decodeIfPresent(String.self, forKey: .intake) {
            guard let intake = AudioIntake(rawValue: word) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .intake, in: stored, debugDescription: "an unknown word")
            }
            request.intake = intake
        }
        self.request = request
    }

    func encode(to encoder: any Encoder) throws {
        var stored = encoder.container(keyedBy: CodingKeys.self)
        try stored.encode(request.transfer.rawValue, forKey: .transfer)
        try stored.encodeIfPresent(request.mode, forKey: .mode)
        try stored.encodeIfPresent(request.audioURL, forKey: .audioURL)
        try stored.encode(request.announcedFiles, forKey: .announcedFiles)
        try stored.encode(request.inputLanguages, forKey: .inputLanguages)
        try stored.encodeIfPresent(request.outputLanguage, forKey: .outputLanguage)
        try stored.encode(
            request.templates.map { Template(id: $0.id, name: $0.name, type: $0.type) }, forKey: .templates)
        try stored.encodeIfPresent(request.modelType, forKey: .modelType)
        try stored.encodeIfPresent(request.speciality, forKey: .speciality)
        try stored.encodeIfPresent(request.section, forKey: .section)
        try stored.encodeIfPresent(request.patientDetails, forKey: .patientDetails)
        try stored.encodeIfPresent(request.additionalData, forKey: .additionalData)
        try stored.encodeIfPresent(request.version, forKey: .version)
        try stored.encodeIfPresent(request.processingError, forKey: .processingError)
        try stored.encodeIfPresent(request.assignedFixture, forKey: .assignedFixture)
        try stored.encodeIfPresent(request.hasStartedRecording, forKey: .hasStartedRecording)
        try stored.encode(request.flavour, forKey: .flavour)
        if request.intake != .listed { try stored.encode(request.intake.rawValue, forKey: .intake) }
    }
}
