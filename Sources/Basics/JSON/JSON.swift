/// JSON answer, built from literals and written as bytes. Members keep the order of the literal, so that the same state
/// yields the same bytes. Members with nil values are left out.
///
///     let answer: JSON = [
///         "status": "success", "txn_id": .string(key.id.rawValue), "lang": document.language.map(JSON.string),
///         "errors": .array(document.errors) { ["code": .string($0.code.rawValue), "msg": .string($0.message)] },
///     ]
package enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Number; a number that is not finite is written as null.
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])
    /// Value that a client sent; its members are written in the order of their names.
    case value(JSONValue)

    /// Name and value of an object's member.
    package typealias Member = (name: String, value: JSON)

    package static func integer(_ value: Int) -> JSON { .integer(Int64(value)) }

    /// Maps each element of a sequence to an array element.
    @inlinable package static func array<Element>(
        _ elements: some Sequence<Element>, _ value: (Element) throws -> JSON
    ) rethrows -> JSON {
        .array(try elements.map(value))
    }

    /// Appends another object's members to this object. If either value is no object, this value stays unchanged.
    package func adding(_ other: JSON) -> JSON {
        guard case .object(let members) = self, case .object(let more) = other else { return self }
        return .object(members + more)
    }

    /// Copy with the members of every object sorted by name.
    package var sorted: JSON {
        switch self {
        case .object(let members): .object(members.sorted { $0.name < $1.name }.map { ($0.name, $0.value.sorted) })
        case .array(let values): .array(values.map(\.sorted))
        case .null, .bool, .integer, .number, .string, .value: self
        }
    }

    /// UTF-8 bytes of the JSON text.
    package var bytes: [UInt8] {
        var text = JSONText()
        text.write(json: self)
        return text.bytes
    }
}

extension JSON: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral members: (String, JSON?)...) {
        var own: [Member] = []
        own.reserveCapacity(members.count)
        for case (let name, let value?) in members { own.append((name, value)) }
        self = .object(own)
    }
}

extension JSON: ExpressibleByArrayLiteral {
    package init(arrayLiteral values: JSON...) { self = .array(values) }
}

extension JSON: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = .string(text) }
}

extension JSON: ExpressibleByStringInterpolation {}

extension JSON: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSON: ExpressibleByFloatLiteral {
    package init(floatLiteral value: Double) { self = .number(value) }
}

extension JSON: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension Optional<JSON> {
    /// This value, or null if there is none, for members that are always present.
    package var orNull: JSON { self ?? .null }
}

extension JSONText {
    package mutating func write(json: JSON) {
        switch json {
        case .null: write("null")
        case .bool(let value): write(value ? "true" : "false")
        case .integer(let value): write(integer: value)
        case .number(let value): if value.isFinite { write(number: value) } else { write("null") }
        case .string(let text): write(string: text)
        case .array(let values): write(list: values) { $0.write(json: $1) }
        case .object(let members):
            write("{")
            for (index, member) in members.enumerated() {
                if index > 0 { write(",") }
                write(string: member.name)
                write(":")
                write(json: member.value)
            }
            write("}")
        case .value(let value): write(value)
        }
    }
}
