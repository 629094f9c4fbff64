import Basics

extension Setting {
    /// Value type of a setting: for its JSON Schema, for lists in the YAML file, and for shell completions.
    enum ValueType: Hashable, Sendable {
        case text
        /// A file or a folder.
        case path
        case boolean
        case integer(ClosedRange<Int>)
        case choice([String])
        /// Texts that are separated by commas, or a list in the YAML file.
        case list
        /// `14s`, `500ms`, or a number of seconds.
        case time
        /// Times that are separated by commas, or a list in the YAML file.
        case times
        /// `50GB`, or a number of bytes.
        case size

        /// The placeholder of the value in `--help`; nil for the setting's name.
        var placeholder: String? {
            switch self {
            case .path: "path"
            case .time: "time"
            case .times: "times"
            case .size: "size"
            case .text, .boolean, .integer, .choice, .list: nil
            }
        }

        /// Whether the YAML file may have a list of values.
        var takesList: Bool { self == .list || self == .times }

        private static let timePattern = "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)?$"
        private static let sizePattern = "^[0-9]+([KkMmGg][Bb])?$"

        /// The members of a JSON Schema.
        fileprivate var schema: [JSON.Member] {
            let time: JSON = ["type": ["string", "number"], "pattern": .string(Self.timePattern), "minimum": 0]
            switch self {
            case .text, .path: return [("type", "string")]
            case .boolean: return [("type", "boolean")]
            case .integer(let range):
                return [
                    ("type", "integer"), ("minimum", .integer(range.lowerBound)),
                    ("maximum", .integer(range.upperBound)),
                ]
            case .choice(let words): return [("enum", .array(words, JSON.string))]
            case .list: return [("type", ["string", "array"]), ("items", ["type": "string", "pattern": "^[^,]*$"])]
            case .time:
                guard case .object(let members) = time else { return [] }
                return members
            case .times: return [("type", ["string", "number", "array"]), ("minimum", 0), ("items", time)]
            case .size:
                return [("type", ["string", "integer"]), ("pattern", .string(Self.sizePattern)), ("minimum", 0)]
            }
        }

        /// A value as JSON, which is YAML too: numbers and booleans without quotes.
        func json(_ text: String) -> JSON {
            switch self {
            case .boolean:
                guard let value = try? Parser.boolean.read(text) else { return .string(text) }
                return .bool(value)
            case .integer: return Int(text).map { JSON.integer($0) } ?? .string(text)
            case .text, .path, .choice, .list, .time, .times, .size: return .string(text)
            }
        }
    }

    /// The default in words, for `--help` and `config print`; nil without a default.
    var defaultWords: String? {
        let text = pageDefault.isEmpty ? defaultText : pageDefault.filter { $0 != "`" }
        return text.isEmpty ? nil : text
    }

    /// The JSON Schema of the YAML file, with a line for each setting. `docs/settings.schema.json` is this text.
    static var fileSchema: String {
        var properties: [String] = []
        for setting in all {
            var members: [JSON.Member] = [("description", .string(setting.help))] + setting.valueType.schema
            if !setting.defaultText.isEmpty {
                members.append(("default", setting.valueType.json(setting.defaultText)))
            }
            properties.append("    \"\(setting.name)\": \(String(decoding: JSON.object(members).bytes, as: UTF8.self))")
        }
        return """
            {
              "$schema": "https://json-schema.org/draft/2020-12/schema",
              "title": "Settings of scribe-emulator",
              "type": ["object", "null"],
              "additionalProperties": false,
              "properties": {
            \(properties.joined(separator: ",\n"))
              }
            }

            """
    }
}
