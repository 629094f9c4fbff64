/// Writer of JSON bytes for frequent messages, several times as fast as `JSONEncoder`.
package struct JSONText: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

    /// Appends text that is JSON already, such as a bracket or a comma.
    package mutating func write(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the name of an object's next member, after a comma if needed.
    package mutating func member(_ name: StaticString) {
        if bytes.last != UInt8(ascii: "{") { write(",") }
        write("\"")
        write(name)
        write("\":")
    }

    /// Appends part of a string without characters to escape.
    package mutating func write(plain text: String) { bytes.append(contentsOf: text.utf8) }

    /// Appends an object without its closing brace, so that more members can follow.
    package mutating func write(openObject json: JSON) {
        write(json: json)
        bytes.removeLast()
    }

    /// Appends an array, with commas between its values.
    package mutating func write<Value>(list values: [Value], _ write: (inout JSONText, Value) -> Void) {
        self.write("[")
        for (index, value) in values.enumerated() {
            if index > 0 { self.write(",") }
            write(&self, value)
        }
        self.write("]")
    }

    package mutating func write(integer: Int64) { bytes += String(integer).utf8 }

    /// Appends a number in its shortest form.
    package mutating func write(number: Double) {
        bytes += (Int64(exactly: number).map { "\($0)" } ?? "\(number)").utf8
    }

    /// Appends a string in quotes, with escapes.
    package mutating func write(string text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { write(escaping: $0) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(escaping text: UnsafeBufferPointer<UInt8>) {
        guard text.contains(where: \.needsJSONEscape) else { return bytes.append(contentsOf: text) }
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            case 0x08: bytes += "\\b".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0..<0x20: bytes += "\\u00\(Hex.encode([byte]))".utf8
            default: bytes.append(byte)
            }
        }
    }

    /// Appends any value with its members in the order of their names. Numbers must be finite.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write("null")
        case .bool(let value): write(value ? "true" : "false")
        case .integer(let value): write(integer: value)
        case .number(let value): write(number: value)
        case .digits(let text): write(plain: text)
        case .string(let text): write(string: text)
        case .array(let values):
            write(list: values) { $0.write($1) }
        case .object(let members):
            write("{")
            write(members: members)
            write("}")
        }
    }

    /// Appends an object's members in the order of their names.
    private mutating func write(members: [String: JSONValue]) {
        for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { write(",") }
            write(string: member.key)
            write(":")
            write(member.value)
        }
    }
}

extension UInt8 {
    /// Whether the byte cannot stand in a JSON string.
    fileprivate var needsJSONEscape: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}
