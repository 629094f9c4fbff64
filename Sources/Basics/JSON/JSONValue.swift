/// Any JSON value, for the parts of a request that are stored and echoed but not interpreted.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    /// Number with more digits than `Int64` and `Double` keep, as JSON text.
    case digits(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Member called `name`; nil if this is not an object or has no such member.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// Text of a string value; nil for any other value.
    package var stringValue: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Elements of an array; nil for any other value.
    package var arrayValue: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    /// Value of a number, whole or fractional; nil for any other value.
    package var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .digits(let text): Double(text)
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// Text of a string, number or boolean; nil for any other value.
    package var scalarText: String? {
        switch self {
        case .string(let text), .digits(let text): text
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .bool(let value): String(value)
        case .null, .array, .object: nil
        }
    }

    /// Whether arrays and objects are nested at most `limit` deep. Stored values are embedded in
    /// others and must stay readable there.
    package func isNested(atMost limit: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .number, .digits, .string: true
        case .array(let values): limit > 0 && values.allSatisfy { $0.isNested(atMost: limit - 1) }
        case .object(let members): limit > 0 && members.values.allSatisfy { $0.isNested(atMost: limit - 1) }
        }
    }

    /// This object with another object's members replacing its own. If either is no
    /// object, the result is the other value.
    package func merged(with other: JSONValue) -> JSONValue {
        guard case .object(let members) = self, case .object(let more) = other else { return other }
        return .object(members.merging(more) { _, new in new })
    }

    /// This object without its null members: clients send null for an absent value.
    /// - Parameter isMeant: selects the members to remove by name.
    package func withoutNulls(where isMeant: (String) -> Bool = { _ in true }) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.value != .null || !isMeant($0.key) })
    }

    var isNull: Bool {
        guard case .null = self else { return false }
        return true
    }

    /// Whether this is an object.
    package var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }
}

// Not Encodable: an encoder writes no digits beyond those of its own numbers.
extension JSONValue: Decodable {
    /// Decodes a value of a ``JSONDocument``, the only decoder that has untyped values.
    package init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? JSONValueDecoder else {
            let context = DecodingError.Context(
                codingPath: decoder.codingPath, debugDescription: "only a JSONDocument decodes untyped values")
            throw DecodingError.typeMismatch(JSONValue.self, context)
        }
        self = decoder.value
    }
}
