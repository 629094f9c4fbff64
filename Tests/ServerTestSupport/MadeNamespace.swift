import Basics
import Testing

/// A namespace with the credentials that its creation gives.
package struct MadeNamespace {
    package let name: String
    package let client: String
    package let secret: String
    package let key: String
    package let partner: String

    fileprivate init(_ answer: TestAnswer) throws {
        try #require(answer.status == 201, "\(answer.text)")
        name = try answer["name"]
        client = try answer["client_id"]
        secret = try answer["client_secret"]
        key = try answer["api_key"]
        partner = try answer["partner_id"]
    }
}

extension TestScribeClient {
    package func namespace(_ name: String) async throws -> MadeNamespace {
        try MadeNamespace(try await post("/__admin/namespaces", #"{"name":"\#(name)"}"#))
    }

    /// The names of all namespaces of the server.
    package func namespaces() async throws -> [String] {
        let answer = try await get("/__admin/namespaces")
        guard case .array(let items)? = answer.json["namespaces"] else { return [] }
        return items.compactMap { $0["name"]?.stringValue }
    }
}
