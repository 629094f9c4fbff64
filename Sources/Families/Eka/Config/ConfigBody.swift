import Basics
import ScribeDomain
import ScribeHTTP

/// Decodes the body of `PUT config`: `data` holds the changed keys only; other keys keep their values (C-93).
struct ConfigBody: Decodable {
    /// Owner of the configuration.
    enum Scope: String {
        case user
        case workspace
    }

    let scope: Scope
    let data: JSONValue

    /// Most templates in a user's list.
    private static let largestSelection = 500

    private enum CodingKeys: String, CodingKey {
        case data
        case scope = "request_type"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let word = try container.decodeIfPresent(String.self, forKey: .scope) ?? Scope.user.rawValue
        guard let scope = Scope(rawValue: word) else {
            throw ScribeError.invalidRequest(field: CodingKeys.scope.rawValue, problem: "must be user or workspace")
        }
        self.scope = scope
        // Null deletes a client's own key; on a preference null changes nothing.
        data = try container.decode(JSONValue.self, forKey: .data).echoable(as: CodingKeys.data.rawValue)
            .withoutNulls { PreferenceKey(rawValue: $0) != nil }
        try Self.check(data)
    }

    /// Validates the keys that SDKs decode strictly; other keys are stored unchecked.
    private static func check(_ data: JSONValue) throws {
        guard case .object(let members) = data else { return }
        for (name, value) in members {
            guard let key = PreferenceKey(rawValue: name) else { continue }
            switch (key, value) {
            case (.myTemplates, .array(let items)):
                try Limits.require(items.count, atMost: largestSelection, "data.\(name)")
                try require(
                    items.allSatisfy { $0.stringValue.map(TemplateID.isValid) ?? false }, name,
                    "an array of template ids")
            case (.languages, .array(let items)), (.formats, .array(let items)):
                try require(items.allSatisfy { isChoice($0) }, name, "an array of objects with id and name")
            case (.myTemplates, _), (.languages, _), (.formats, _): try require(false, name, "an array")
            case (.mode, _), (.model, _): try require(value.stringValue != nil, name, "a string")
            case (.downloadsAutomatically, _), (.detectLanguage, _):
                try require(value == .bool(true) || value == .bool(false), name, "true or false")
            }
        }
    }

    private static func isChoice(_ item: JSONValue) -> Bool {
        let name = item["name"]
        return item["id"]?.stringValue != nil && (name == nil || name == .null || name?.stringValue != nil)
    }

    private static func require(_ isRight: Bool, _ name: String, _ what: String) throws {
        guard !isRight else { return }
        throw ScribeError.invalidRequest(field: "data.\(name)", problem: "must be \(what)")
    }
}
