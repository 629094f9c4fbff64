import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `PATCH /voice/api/v3/status/{txn}`: replaces results with a user's corrections (eka.md 2.5).
extension ResultRoutes {
    private struct EditBody: Decodable {
        let edit: ResultEdit

        /// iOS names the template; Android and the web client name the document (C-102).
        private enum CodingKeys: String, CodingKey {
            case data
            case document = "document-id"
            case documentWithUnderscore = "document_id"
            case template = "template-id"
            case templateWithUnderscore = "template_id"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ keys: CodingKeys...) throws -> String? {
                try keys.map { try container.decodeIfPresent(String.self, forKey: $0) }.compactMap(\.self).first {
                    !$0.isEmpty
                }
            }
            let target: ResultEdit.Target
            let template = try text(.template, .templateWithUnderscore)
            if let document = try text(.document, .documentWithUnderscore) {
                target = .document(DocumentID(document))
            } else if let template {
                target = .template(TemplateID(template))
            } else {
                throw DecodingError.keyNotFound(
                    CodingKeys.document, .init(codingPath: decoder.codingPath, debugDescription: ""))
            }
            let data = try container.decode(String.self, forKey: .data)
            edit = ResultEdit(target: target, value: Self.content(of: data).storable)
        }

        /// Decodes base64, which SDKs send back as they got it. Other text is stored unchanged (5.3).
        ///
        /// Only canonical base64 is decoded, so that a poll returns exactly the string that was sent.
        private static func content(of data: String) -> String {
            guard let bytes = Data(base64Encoded: data), bytes.base64EncodedString() == data,
                let text = String(validating: bytes, as: UTF8.self)
            else { return data }
            return text
        }
    }

    @Sendable func edit(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let edits = try await request.decodeJSON(as: [EditBody].self, in: context).map(\.edit)
        guard !edits.isEmpty else { throw ScribeError.invalidRequest(field: nil, problem: "must name a document") }
        try await runtime.transactions.edit(key, edits)
        return .json(.ok, .success("Successfully updated \(edits.count) documents", key))
    }
}
