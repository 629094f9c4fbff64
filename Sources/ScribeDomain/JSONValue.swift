/// Any JSON value, for the parts of a request that are stored and echoed without being understood.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The member called `name`, or nil when this is not an object or has no such member.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text of a string value.
    package var stringValue: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// A number, whole or not.
    package var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// A text, and a number or a truth as the text that it would be; nil for anything else.
    package var scalarText: String? {
        switch self {
        case .string(let text): text
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .bool(let value): String(value)
        case .null, .array, .object: nil
        }
    }

    /// Whether it has no more than `limit` levels of arrays and objects: what is read must also be readable once it is
    /// kept within something else.
    package func isNested(atMost limit: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .number, .string: true
        case .array(let values): limit > 0 && values.allSatisfy { $0.isNested(atMost: limit - 1) }
        case .object(let members): limit > 0 && members.values.allSatisfy { $0.isNested(atMost: limit - 1) }
        }
    }

    /// This object with the members of another in place of its own; anything else is replaced.
    package func merged(with other: JSONValue) -> JSONValue {
        guard case .object(let members) = self, case .object(let more) = other else { return other }
        return .object(members.merging(more) { _, new in new })
    }

    /// This object without the members that are null: clients mean that there is none.
    /// - Parameter isMeant: which of them.
    package func withoutNulls(where isMeant: (String) -> Bool = { _ in true }) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.value != .null || !isMeant($0.key) })
    }

    /// Whether this is an object.
    package var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        if let key = JSONDocument.userInfoKey, let document = decoder.userInfo[key] as? JSONDocument,
            let value = try document.value(at: decoder.codingPath)
        {
            self = value
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([String: JSONValue].self) {
            self = .object(value)
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension String {
    /// Whether JSON cannot have it between quotes as it is.
    package var needsJSONEscape: Bool {
        utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    }
}
