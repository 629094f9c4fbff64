import ScribeDomain

/// What PUT says: `data` holds the keys that change, and no others do (C-93).
struct ConfigBody: Decodable {
    /// Whose configuration it is.
    enum Scope: String {
        case user
        case workspace
    }

    let scope: Scope
    let data: JSONValue

    /// How many templates a user can have at hand.
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
        data = try container.decode(JSONValue.self, forKey: .data).echoable(as: CodingKeys.data.rawValue).withoutNulls
        try Self.check(data)
    }

    /// The keys that clients decode strictly; others are kept as they are.
    private static func check(_ data: JSONValue) throws {
        guard case .object(let members) = data else { return }
        for (key, value) in members where value != .null {
            switch (key, value) {
            case ("my_templates", .array(let items)):
                guard items.count <= largestSelection else {
                    throw ScribeError.invalidRequest(
                        field: "data.\(key)", problem: "must have at most \(largestSelection) items")
                }
                try require(items.allSatisfy { $0.stringValue.map(TemplateID.isValid) ?? false }, key, "template ids")
            case ("input_languages", .array(let items)), ("output_format_template", .array(let items)):
                try require(items.allSatisfy { isChoice($0) }, key, "objects with id and name")
            case ("consultation_mode", .string), ("model_type", .string): break
            case ("auto_download", .bool), ("auto_detect_language", .bool): break
            case ("my_templates", _), ("input_languages", _), ("output_format_template", _):
                try require(false, key, nil)
            case ("consultation_mode", _), ("model_type", _):
                throw ScribeError.invalidRequest(field: "data.\(key)", problem: "must be a string")
            case ("auto_download", _), ("auto_detect_language", _):
                throw ScribeError.invalidRequest(field: "data.\(key)", problem: "must be true or false")
            default: break
            }
        }
    }

    private static func isChoice(_ item: JSONValue) -> Bool {
        let name = item["name"]
        return item["id"]?.stringValue != nil && (name == nil || name == .null || name?.stringValue != nil)
    }

    private static func require(_ isRight: Bool, _ key: String, _ items: String?) throws {
        guard !isRight else { return }
        let what = items.map { "an array of \($0)" } ?? "an array"
        throw ScribeError.invalidRequest(field: "data.\(key)", problem: "must be \(what)")
    }
}
