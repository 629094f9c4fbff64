import Basics
import ScribeDomain

/// JSON of a transaction's `request` column. Databases of every version since the first have these keys, and SQL reads
/// some of them: they stay the same when a property of the domain is renamed.
struct StoredRequest: Decodable {
    private let request: TransactionRequest

    init(_ request: TransactionRequest) { self.request = request }

    var value: TransactionRequest { request }

    private enum CodingKeys: String, CodingKey {
        case transfer, mode, audioURL, announcedFiles, assignedFixture, outputLanguage, templates, speciality, section
        case additionalData, processingError, hasStartedRecording
        /// SQL reads these keys, and that of `mode`. `intake` is missing for ``AudioIntake/listed``.
        case inputLanguages, modelType, patientDetails, version, flavour, intake
    }

    private struct Template: Decodable {
        let id: TemplateID
        let name: String?
        let type: String?
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

    /// The column. Members that are missing in the request are left out.
    var json: JSON {
        func texts(_ values: [String]) -> JSON { .array(values, JSON.string) }
        let members: [(CodingKeys, JSON?)] = [
            (.transfer, .string(request.transfer.rawValue)), (.mode, request.mode.map(JSON.string)),
            (.audioURL, request.audioURL.map(JSON.string)), (.announcedFiles, texts(request.announcedFiles)),
            (.inputLanguages, texts(request.inputLanguages)),
            (.outputLanguage, request.outputLanguage.map(JSON.string)),
            (
                .templates,
                .array(request.templates) {
                    [
                        "id": .string($0.id.rawValue), "name": $0.name.map(JSON.string),
                        "type": $0.type.map(JSON.string),
                    ]
                }
            ),
            (.modelType, request.modelType.map(JSON.string)), (.speciality, request.speciality.map(JSON.string)),
            (.section, request.section.map(JSON.string)), (.patientDetails, request.patientDetails.map(JSON.value)),
            (.additionalData, request.additionalData.map(JSON.value)), (.version, request.version.map(JSON.string)),
            (.processingError, request.processingError.map(JSON.value)),
            (.assignedFixture, request.assignedFixture.map(JSON.string)),
            (.hasStartedRecording, request.hasStartedRecording.map(JSON.bool)),
            (.flavour, .string(request.flavour)),
            (.intake, request.intake == .listed ? nil : .string(request.intake.rawValue)),
        ]
        return .object(members.compactMap { key, value in value.map { (key.stringValue, $0) } })
    }
}
