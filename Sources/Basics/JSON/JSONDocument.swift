package import Foundation

/// JSON text with fast access to the untyped values in it.
///
/// `JSONDecoder` tries one type after another and describes each failure by its whole path. This takes time in the
/// square of the nesting depth, so this type parses such values itself.
package final class JSONDocument: Sendable {
    static let userInfoKey: CodingUserInfoKey? = CodingUserInfoKey(rawValue: "json document")

    private let data: Data
    /// Parsed value, once requested; the inner nil means that the text holds an unrepresentable value.
    private let parsed = LockedValue<JSONValue??>(nil)

    package init(_ data: Data) { self.data = data }

    /// Decodes a type that may contain ``JSONValue``s anywhere.
    package func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        EventLoopOffload.watch(bytes: data.count, of: "JSON")
        let decoder = JSONDecoder()
        if let key = Self.userInfoKey { decoder.userInfo[key] = self }
        return try decoder.decode(type, from: data)
    }

    /// Deepest nesting that is accepted from outside.
    package static let deepestNesting = 120
    /// Most values that are accepted from outside. A value takes up to 100 times the memory of its text.
    package static let maxValues = 200_000
    /// Most values of one message of a socket.
    package static let maxValuesOfMessage = 10_000

    /// Decodes JSON from outside. Nil if the text is not JSON of that type, is nested too deeply, or has too many
    /// values.
    package static func untrusted<Value: Decodable>(
        _ data: Data, as type: Value.Type = Value.self, upTo maxValues: Int = JSONDocument.maxValues
    ) -> Value? {
        guard !isTooLarge(data, upTo: maxValues), !CombiningMarks.areTooMany(in: data) else { return nil }
        return try? JSONDocument(data).decode(type)
    }

    /// Whether a text is nested too deeply or has too many values. The text is not checked to be valid JSON.
    package static func isTooLarge(_ bytes: some Sequence<UInt8>, upTo maxValues: Int = JSONDocument.maxValues)
        -> Bool
    {
        let size = bytes.withContiguousStorageIfAvailable(size(of:)) ?? Array(bytes).withUnsafeBufferPointer(size(of:))
        return size.depth > deepestNesting || size.values > maxValues
    }

    /// Nesting depth of arrays and objects in a text, and the number of its values.
    private static func size(of bytes: UnsafeBufferPointer<UInt8>) -> (depth: Int, values: Int) {
        var depth = 0
        var deepest = 0
        var values = 1
        var isText = false
        var isEscaped = false
        for byte in bytes {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: ","): values += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                values += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return (deepest, values)
    }

    /// Parses JSON that this program wrote; nil if the text is not JSON.
    package static func written(_ text: String) -> JSONValue? {
        var parser = JSONParser(bytes: Array(text.utf8))
        return parser.value()
    }

    /// The whole text as a value, once it was decoded; nil if it holds a value that cannot be represented.
    package var value: JSONValue? { try? value(at: []) }

    /// Value at a coding path; nil if the text has no value there.
    /// The decoder has validated the structure of the text, but not yet its strings and numbers.
    /// - Throws: `DecodingError` for a number out of range, and for half a surrogate pair.
    func value(at path: [any CodingKey]) throws -> JSONValue? {
        let root = parsed.withLock { parsed -> JSONValue? in
            if let parsed { return parsed }
            var parser = JSONParser(bytes: Array(data))
            let value = parser.value()
            parsed = .some(value)
            return value
        }
        guard let root else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "has a number or a text that cannot be read"))
        }
        return path.reduce(Optional(root)) { value, key in
            switch value {
            case .array(let items): key.intValue.flatMap { items.indices.contains($0) ? items[$0] : nil }
            case .object(let members): members[key.stringValue]
            case .null, .bool, .integer, .number, .digits, .string, nil: nil
            }
        }
    }
}

/// Parser for text that `JSONDecoder` has accepted as JSON.
private struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    mutating func value() -> JSONValue? {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return text().map(JSONValue.string)
        case UInt8(ascii: "t"): return word(4, .bool(true))
        case UInt8(ascii: "f"): return word(5, .bool(false))
        case UInt8(ascii: "n"): return word(4, .null)
        case nil: return nil
        default: return number()
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        // A byte order mark may begin the text.
        if position == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    private mutating func word(_ length: Int, _ value: JSONValue) -> JSONValue {
        position += length
        return value
    }

    private mutating func object() -> JSONValue? {
        position += 1
        var members: [String: JSONValue] = [:]
        while true {
            skipSpace()
            guard let byte = peek else { return nil }
            if byte == UInt8(ascii: "}") {
                position += 1
                return .object(members)
            }
            if byte == UInt8(ascii: ",") {
                position += 1
                continue
            }
            guard byte == UInt8(ascii: "\""), let name = text() else { return nil }
            skipSpace()
            position += 1
            guard let value = value() else { return nil }
            if members[name] == nil { members[name] = value }
        }
    }

    private mutating func array() -> JSONValue? {
        position += 1
        var items: [JSONValue] = []
        while true {
            skipSpace()
            guard let byte = peek else { return nil }
            if byte == UInt8(ascii: "]") {
                position += 1
                return .array(items)
            }
            if byte == UInt8(ascii: ",") {
                position += 1
                continue
            }
            guard let item = value() else { return nil }
            items.append(item)
        }
    }

    private mutating func number() -> JSONValue? {
        let start = position
        var isInteger = true
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): isInteger = false
            default:
                return position > start ? number(start..<position, isInteger) : nil
            }
            position += 1
        }
        return number(start..<position, isInteger)
    }

    private func number(_ range: Range<Int>, _ isInteger: Bool) -> JSONValue? {
        let text = String(decoding: bytes[range], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { return nil }
        // A `Double` gives back 15 digits of any number.
        if isInteger || range.count > 15, let sent = DecimalNumber(bytes[range]),
            isInteger || sent != DecimalNumber(Array("\(value)".utf8)[...])
        {
            return .digits(text)
        }
        return Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
    }

    private mutating func text() -> String? {
        position += 1
        let start = position
        while let byte = peek, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
        if peek == UInt8(ascii: "\"") {
            defer { position += 1 }
            return String(utf8: bytes[start..<position])
        }
        var units = Array(bytes[start..<position])
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(utf8: units[...])
            case UInt8(ascii: "\\"):
                guard let escaped = peek else { return nil }
                position += 1
                switch escaped {
                case UInt8(ascii: "b"): units.append(0x08)
                case UInt8(ascii: "f"): units.append(0x0C)
                case UInt8(ascii: "n"): units.append(0x0A)
                case UInt8(ascii: "r"): units.append(0x0D)
                case UInt8(ascii: "t"): units.append(0x09)
                case UInt8(ascii: "u"):
                    guard let scalar = scalar() else { return nil }
                    units += Array(String(scalar).utf8)
                default: units.append(escaped)
                }
            // Control characters must be escaped within a string.
            case 0..<0x20: return nil
            default: units.append(byte)
            }
        }
        return nil
    }

    /// Reads the scalar after `\u`: one escape, or two for a surrogate pair.
    private mutating func scalar() -> Unicode.Scalar? {
        guard let first = unit() else { return nil }
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard bytes[position...].starts(with: Array("\\u".utf8)) else { return nil }
        position += 2
        guard let second = unit(), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func unit() -> UInt32? {
        defer { position = min(position + 4, bytes.count) }
        return UInt32(String(decoding: bytes[position...].prefix(4), as: UTF8.self), radix: 16)
    }
}

/// Number of a JSON text as its digits and its power of ten, for comparisons.
private struct DecimalNumber: Equatable {
    private let isNegative: Bool
    /// From the first to the last one that is not zero.
    private let digits: [UInt8]
    private let exponent: Int

    /// - Returns: nil for bytes that are no number of JSON.
    init?(_ bytes: ArraySlice<UInt8>) {
        let zero = UInt8(ascii: "0")
        isNegative = bytes.first == UInt8(ascii: "-")
        var rest = isNegative ? bytes.dropFirst() : bytes
        let whole = rest.prefix(while: \.isDigit)
        rest = rest.dropFirst(whole.count)
        guard whole.count == 1 || whole.first ?? zero != zero else { return nil }
        var (fraction, power) = (rest.prefix(0), 0)
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: \.isDigit)
            rest = rest.dropFirst(1 + fraction.count)
            guard !fraction.isEmpty else { return nil }
        }
        if let sign = rest.first {
            guard sign | 0x20 == UInt8(ascii: "e"), let read = Int(String(decoding: rest.dropFirst(), as: UTF8.self))
            else { return nil }
            power = read
        }
        let all = (whole + fraction).drop { $0 == zero }
        let end = all.lastIndex { $0 != zero }.map { $0 + 1 } ?? all.startIndex
        digits = Array(all[..<end])
        exponent = digits.isEmpty ? 0 : power - fraction.count + all.endIndex - end
    }
}
