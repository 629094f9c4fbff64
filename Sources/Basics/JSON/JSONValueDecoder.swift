/// Decodes types from a JSON value, with the errors of `JSONDecoder`.
///
/// `JSONDecoder` parses the text once more, and looks for the type of an untyped value by trying one after another.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    /// Path of the enclosing value, and the key in it; nil for the whole.
    private let path: [any CodingKey]
    private let key: (any CodingKey)?
    private let readsSnakeCase: Bool

    /// - Parameter readsSnakeCase: whether the key `createdAt` also reads a member called `created_at`.
    init(_ value: JSONValue, readsSnakeCase: Bool) {
        self.init(value, in: [], at: nil, readsSnakeCase)
    }

    private init(_ value: JSONValue, in path: [any CodingKey], at key: (any CodingKey)?, _ readsSnakeCase: Bool) {
        (self.value, self.path, self.key, self.readsSnakeCase) = (value, path, key, readsSnakeCase)
    }

    var codingPath: [any CodingKey] { key.map { path + [$0] } ?? path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try Members(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try Items(self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let scalar: Any?
        switch type {
        case is String.Type: scalar = value.stringValue
        case is Bool.Type: if case .bool(let isTrue) = value { scalar = isTrue } else { scalar = nil }
        case is Double.Type: scalar = value.numberValue
        case is Float.Type: scalar = value.numberValue.map { Float($0) }.flatMap { $0.isFinite ? $0 : nil }
        case is Int.Type: scalar = number(Int.self)
        case is Int64.Type: scalar = number(Int64.self)
        case is Int32.Type: scalar = number(Int32.self)
        case is Int16.Type: scalar = number(Int16.self)
        case is Int8.Type: scalar = number(Int8.self)
        case is UInt.Type: scalar = number(UInt.self)
        case is UInt64.Type: scalar = number(UInt64.self)
        case is UInt32.Type: scalar = number(UInt32.self)
        case is UInt16.Type: scalar = number(UInt16.self)
        case is UInt8.Type: scalar = number(UInt8.self)
        default: return try Value(from: self)
        }
        guard let decoded = scalar as? Value else { throw mismatch(type) }
        return decoded
    }

    private func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        switch value {
        case .integer(let integer): Number(exactly: integer)
        case .digits(let text): Number(text)
        case .number, .null, .bool, .string, .array, .object: nil
        }
    }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "another JSON value was found")
        return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// Members of an object.
    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        private let members: [String: JSONValue]
        private let readsSnakeCase: Bool
        let codingPath: [any CodingKey]

        init(_ decoder: JSONValueDecoder) throws {
            guard case .object(let members) = decoder.value else { throw decoder.mismatch([String: Any].self) }
            (self.members, codingPath, readsSnakeCase) = (members, decoder.codingPath, decoder.readsSnakeCase)
        }

        var allKeys: [Key] { members.keys.compactMap(Key.init) }

        func contains(_ key: Key) -> Bool { value(key) != nil }

        func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try member(key).decode(type)
        }

        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
            guard let value = value(key), !value.isNull else { return nil }
            return try JSONValueDecoder(value, in: codingPath, at: key, readsSnakeCase).decode(type)
        }

        func nestedContainer<NestedKey: CodingKey>(
            keyedBy type: NestedKey.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<NestedKey> {
            try member(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try member(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder {
            JSONValueDecoder(.object(members), in: codingPath, at: nil, readsSnakeCase)
        }

        func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

        private func member(_ key: Key) throws -> JSONValueDecoder {
            guard let value = value(key) else {
                throw DecodingError.keyNotFound(
                    key, .init(codingPath: codingPath, debugDescription: "the object has no such member"))
            }
            return JSONValueDecoder(value, in: codingPath, at: key, readsSnakeCase)
        }

        private func value(_ key: Key) -> JSONValue? {
            members[key.stringValue] ?? (readsSnakeCase ? members[Self.snakeCase(key.stringValue)] : nil)
        }

        private static func snakeCase(_ name: String) -> String {
            name.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
        }
    }

    /// Items of an array.
    private struct Items: UnkeyedDecodingContainer {
        private let items: [JSONValue]
        private let readsSnakeCase: Bool
        let codingPath: [any CodingKey]
        private(set) var currentIndex = 0

        init(_ decoder: JSONValueDecoder) throws {
            guard case .array(let items) = decoder.value else { throw decoder.mismatch([Any].self) }
            (self.items, codingPath, readsSnakeCase) = (items, decoder.codingPath, decoder.readsSnakeCase)
        }

        var count: Int? { items.count }
        var isAtEnd: Bool { currentIndex == items.count }

        mutating func decodeNil() throws -> Bool {
            let isNull = try item(Any?.self).decodeNil()
            if isNull { currentIndex += 1 }
            return isNull
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let value = try item(type).decode(type)
            currentIndex += 1
            return value
        }

        mutating func nestedContainer<NestedKey: CodingKey>(
            keyedBy type: NestedKey.Type
        ) throws -> KeyedDecodingContainer<NestedKey> {
            try superDecoder().container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try superDecoder().unkeyedContainer()
        }

        mutating func superDecoder() throws -> any Decoder {
            let decoder = try item(Any.self)
            currentIndex += 1
            return decoder
        }

        private func item(_ type: Any.Type) throws -> JSONValueDecoder {
            let key = Index(intValue: currentIndex)
            guard !isAtEnd else {
                throw DecodingError.valueNotFound(
                    type, .init(codingPath: codingPath + [key], debugDescription: "the array has no more items"))
            }
            return JSONValueDecoder(items[currentIndex], in: codingPath, at: key, readsSnakeCase)
        }
    }

    /// Position in an array, as a key.
    private struct Index: CodingKey {
        let intValue: Int?
        var stringValue: String { "Index \(intValue ?? 0)" }

        init(intValue: Int) { self.intValue = intValue }
        init?(stringValue: String) { nil }
    }
}
