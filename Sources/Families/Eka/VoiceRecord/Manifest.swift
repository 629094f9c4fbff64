import Basics
import ScribeDomain
import ScribeHTTP

/// Decodes the manifest that the Python SDK uploads beside a version 1 transaction's files.
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
        // Callers may send any type in the other members.
        mode = try? container.decode(String.self, forKey: .mode)
        let data = try? container.decode(JSONValue.self, forKey: .additionalData)
        additionalData = try? data?.echoable(as: CodingKeys.additionalData.rawValue)
        let output = try? container.decode(JSONValue.self, forKey: .output)
        func list(_ name: String) -> [JSONValue] { output?[name]?.arrayValue ?? [] }
        languages = list("input_language").compactMap(\.stringValue)
        templates = (list("output_template") + list("output_format_template")).compactMap { item in
            guard let id = item["template_id"]?.stringValue, TemplateID.isValid(id) else { return nil }
            return .init(id: TemplateID(id))
        }
    }

    /// Whether an upload with this action contains a manifest, whose arrival starts the transaction.
    ///
    /// Version 1 of the API has no init: the form for the files carries the action instead.
    static func startsTransaction(action: String?) -> Bool { action == "ekascribe" }

    /// The transaction request for the files in the manifest's folder.
    func request(in location: AudioLocation) -> TransactionRequest {
        TransactionRequest(
            transfer: .nonVaded, mode: mode, audioURL: location.url,
            announcedFiles: ChunkList(files: files).files, inputLanguages: languages, templates: templates,
            additionalData: additionalData
        )
    }
}
