package import Foundation

/// JSON text that was parsed, for values and for types.
package struct JSONDocument: Sendable {
    package let value: JSONValue

    /// Parses JSON text in UTF-8.
    /// - Throws: `DecodingError` for other text, and for a number or a text that cannot be represented.
    package init(_ text: some Sequence<UInt8>) throws {
        guard let value = Self.parsed(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "must be JSON"))
        }
        self.value = value
    }

    /// Decodes a type, as `JSONDecoder` does.
    /// - Parameter readsSnakeCase: whether the key `createdAt` also reads a member called `created_at`.
    /// - Throws: `DecodingError`, and what the type throws.
    package func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, readsSnakeCase: Bool = false
    ) throws -> Value {
        try JSONValueDecoder(value, readsSnakeCase: readsSnakeCase).decode(type)
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
    package static func written(_ text: String) -> JSONValue? { parsed(text.utf8) }

    private static func parsed(_ text: some Sequence<UInt8>) -> JSONValue? {
        text.withContiguousStorageIfAvailable(JSONParser.value)
            ?? Array(text).withUnsafeBufferPointer(JSONParser.value)
    }
}
