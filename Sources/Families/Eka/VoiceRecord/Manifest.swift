import ScribeDomain
import ScribeHTTP

/// What the Python SDK uploads beside the files of a version 1 transaction: with its arrival the transaction starts.
struct Manifest: Decodable {
    let transaction: TransactionID
    private let files: [String]
    private let mode: String?
    private let additionalData: JSONValue?
    private let languages: [String]
    private let templates: [TransactionRequest.RequestedTemplate]

    private enum CodingKeys: String, CodingKey {
        case mode
        case transaction = "transaction-id"
        case files = "audio-file"
        case additionalData = "additional_data"
        case output = "output_format"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let id = try container.decode(String.self, forKey: .transaction)
        guard TransactionID.isValid(id) else {
            throw ScribeError.invalidRequest(field: CodingKeys.transaction.rawValue, problem: "is not an id")
        }
        transaction = TransactionID(id)
        files = try container.decode([String].self, forKey: .files)
        // Callers put what they like into the rest.
        mode = try? container.decode(String.self, forKey: .mode)
        let data = try? container.decode(JSONValue.self, forKey: .additionalData)
        additionalData = try? data?.echoable(as: CodingKeys.additionalData.rawValue)
        let output = try? container.decode(JSONValue.self, forKey: .output)
        func list(_ name: String) -> [JSONValue] {
            if case .array(let items)? = output?[name] { items } else { [] }
        }
        languages = list("input_language").compactMap(\.stringValue)
        templates = (list("output_template") + list("output_format_template")).compactMap { item in
            guard let id = item["template_id"]?.stringValue, TemplateID.isValid(id) else { return nil }
            return .init(id: TemplateID(id))
        }
    }

    /// Version 1 of the API knows no init: a manifest among the files starts the transaction, where the form of the files
    /// was asked for with this action.
    static func startsTransaction(action: String?) -> Bool { action == "ekascribe" }

    /// What the transaction is asked to do with the files of the manifest's folder.
    func request(in location: AudioLocation) -> TransactionRequest {
        TransactionRequest(
            transfer: .nonVaded, mode: mode, audioURL: location.url,
            announcedFiles: ChunkList(files: files).files, inputLanguages: languages, templates: templates,
            additionalData: additionalData
        )
    }
}
