/// Parser of JSON text in UTF-8 (RFC 8259). Of members with one name, it takes the first.
///
/// A number out of the range of `Double`, and half a surrogate pair in a text, are errors of the whole text.
struct JSONParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0

    /// Deepest nesting, as in `JSONDecoder`. Each level takes a frame of the stack.
    private static let deepestNesting = 512

    /// The value of a whole text; nil for other text.
    static func value(of bytes: UnsafeBufferPointer<UInt8>) -> JSONValue? {
        EventLoopOffload.watch(bytes: bytes.count, of: "JSON")
        var parser = JSONParser(bytes: bytes)
        // A byte order mark may begin the text.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = parser.value()
        parser.skipSpace()
        return parser.position == bytes.count ? value : nil
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private mutating func value() -> JSONValue? {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return nested { $0.object() }
        case UInt8(ascii: "["): return nested { $0.array() }
        case UInt8(ascii: "\""): return text().map(JSONValue.string)
        case UInt8(ascii: "t"): return word("true", .bool(true))
        case UInt8(ascii: "f"): return word("false", .bool(false))
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) -> JSONValue? {
        let isThere = word.withUTF8Buffer { bytes.dropFirst(position).starts(with: $0) }
        position += word.utf8CodeUnitCount
        return isThere ? value : nil
    }

    private mutating func nested(_ read: (inout JSONParser) -> JSONValue?) -> JSONValue? {
        depth += 1
        defer { depth -= 1 }
        position += 1
        return depth <= Self.deepestNesting ? read(&self) : nil
    }

    private mutating func object() -> JSONValue? {
        // A dictionary of the right size takes no time to grow.
        var members: [(name: String, value: JSONValue)] = []
        members.reserveCapacity(8)
        skipSpace()
        if take("}") { return .object([:]) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\""), let name = text() else { return nil }
            skipSpace()
            guard take(":"), let value = value() else { return nil }
            members.append((name, value))
            skipSpace()
        } while take(",")
        guard take("}") else { return nil }
        var object = [String: JSONValue](minimumCapacity: members.count)
        for member in members.reversed() { object[member.name] = member.value }
        return .object(object)
    }

    private mutating func array() -> JSONValue? {
        var items: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(items) }
        repeat {
            guard let item = value() else { return nil }
            items.append(item)
            skipSpace()
        } while take(",")
        return take("]") ? .array(items) : nil
    }

    private mutating func number() -> JSONValue? {
        let start = position
        _ = take("-")
        let isZero = peek == UInt8(ascii: "0")
        let whole = skipDigits()
        guard whole == 1 || whole > 1 && !isZero else { return nil }
        var isInteger = true
        if take(".") {
            isInteger = false
            guard skipDigits() > 0 else { return nil }
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("-") { _ = take("+") }
            guard skipDigits() > 0 else { return nil }
        }
        return number(start..<position, isInteger)
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = peek, byte.isDigit { position += 1 }
        return position - start
    }

    private func number(_ range: Range<Int>, _ isInteger: Bool) -> JSONValue? {
        let digits = UnsafeBufferPointer(rebasing: bytes[range])
        let text = String(decoding: digits, as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { return nil }
        // A `Double` gives back 15 digits of any number.
        if isInteger || range.count > 15, let sent = DecimalNumber(Array(digits)[...]),
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
        let plain = UnsafeBufferPointer(rebasing: bytes[start..<position])
        if take("\"") { return String(utf8: plain) }
        var units = Array(plain)
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return units.withUnsafeBufferPointer(String.init(utf8:))
            case UInt8(ascii: "\\"):
                guard let escaped = peek else { return nil }
                position += 1
                switch escaped {
                case UInt8(ascii: "b"): units.append(0x08)
                case UInt8(ascii: "f"): units.append(0x0C)
                case UInt8(ascii: "n"): units.append(0x0A)
                case UInt8(ascii: "r"): units.append(0x0D)
                case UInt8(ascii: "t"): units.append(0x09)
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(escaped)
                case UInt8(ascii: "u"):
                    guard let scalar = scalar() else { return nil }
                    units += Array(String(scalar).utf8)
                default: return nil
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
        guard take("\\"), take("u"), let second = unit(), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func unit() -> UInt32? {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap(Hex.value) else { return nil }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
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
