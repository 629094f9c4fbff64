import Basics
import ScribeDomain
import ScribeHTTP

/// Decodes the body of init (eka.md 2.1). Unknown keys are ignored, and null means absent.
struct InitBody: Decodable {
    let request: TransactionRequest
    /// Whether the fields are present that the documentation requires of every init (eka.md 9.1, row 19).
    private let namesBatch: Bool

    private struct TemplateBody: Decodable {
        let id: String
        let name: String?
        let type: String?

        enum CodingKeys: String, CodingKey {
            case id = "template_id"
            case name = "template_name"
            case type = "template_type"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case mode, transfer, speciality, version
        case audioURL = "s3_url"
        case batchURL = "batch_s3_url"
        case announcedFiles = "client_generated_files"
        case inputLanguages = "input_language"
        case outputLanguage = "output_language"
        case templates = "output_format_template"
        case modelType = "model_type"
        case patientDetails = "patient_details"
        case additionalData = "additional_data"
        case section
        /// Spelling of the mobile SDKs (C-11).
        case capitalSection = "Section"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        guard let transfer = TransactionRequest.Transfer(rawValue: try container.decode(String.self, forKey: .transfer))
        else {
            let known = TransactionRequest.Transfer.allCases.map(\.rawValue).joined(separator: ", ")
            throw ScribeError.invalidRequest(field: "transfer", problem: "must be one of \(known)")
        }
        let templates = try container.decodeIfPresent([TemplateBody].self, forKey: .templates) ?? []
        for template in templates where !TemplateID.isValid(template.id) {
            throw ScribeError.invalidRequest(field: "output_format_template", problem: "has a template_id that is none")
        }
        // The .NET SDK sends an empty text where its app names no address.
        func address(_ key: CodingKeys) throws -> String? { try text(key).flatMap { $0.isEmpty ? nil : $0 } }
        let batchURL = try address(.batchURL)
        let audioURL =
            switch transfer {
            case .vaded: try address(.audioURL)
            case .nonVaded: batchURL
            case .stream, .batch: try batchURL ?? address(.audioURL)
            }
        let section = try text(.section)
        namesBatch = batchURL != nil && container.contains(.announcedFiles)
        let announced = try container.decodeIfPresent([String].self, forKey: .announcedFiles) ?? []
        request = TransactionRequest(
            transfer: transfer, mode: try text(.mode),
            audioURL: audioURL,
            announcedFiles: ChunkList(files: announced).files,
            inputLanguages: try container.decodeIfPresent([String].self, forKey: .inputLanguages)?.filter {
                !$0.isEmpty
            }
                ?? [],
            outputLanguage: try text(.outputLanguage).flatMap { $0.isEmpty ? nil : $0 },
            templates: templates.map { .init(id: TemplateID($0.id), name: $0.name?.storable, type: $0.type) },
            modelType: try text(.modelType), speciality: try text(.speciality),
            section: try text(.capitalSection) ?? section,
            patientDetails: try container.decodeEcho(forKey: .patientDetails),
            additionalData: try container.decodeEcho(forKey: .additionalData),
            version: try text(.version)
        )
    }

    /// Field whose address leads to no audio, which the vendor takes all the same; nil if there is none.
    var fieldWithoutAudio: String? {
        guard request.audioURL != nil, request.audioLocation == nil else { return nil }
        return request.transfer == .vaded ? "s3_url" : "batch_s3_url"
    }

    /// The request, with the headers' flavour and a complete audio location.
    /// - Parameter isStrict: Whether fields that only the documentation requires must be present.
    /// - Throws: ``ScribeError`` or ``EkaError`` for a missing audio location.
    func validated(flavour: String, isStrict: Bool) throws -> TransactionRequest {
        var request = request
        request.flavour = flavour
        if isStrict, !namesBatch {
            throw ScribeError.invalidRequest(
                field: "batch_s3_url", problem: "is required with client_generated_files (--strict-docs)")
        }
        switch request.transfer {
        case .vaded where request.audioURL == nil: throw EkaError.audioLocationRequired
        case .nonVaded where request.audioURL == nil: throw EkaError.batchLocationRequired
        case .vaded, .nonVaded, .stream, .batch: break
        }
        guard request.audioURL?.isPlain != false else {
            let field = request.transfer == .vaded ? "s3_url" : "batch_s3_url"
            throw ScribeError.invalidRequest(field: field, problem: "must have no control characters")
        }
        // SDKs that do not know the bucket upload whole files to this one (C-60).
        if let location = request.audioLocation, location.isFolderOnly {
            request.audioLocation = AudioLocation(bucket: EkaFamily.batchBucket, folder: location.folder)
        }
        return request
    }
}
