import Basics
import Foundation
import ScribeDomain

/// Encodes and decodes JSON columns.
enum StoredJSON {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return encoder
    }()

    static func text(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Encodes a list. Most lists are empty, and an encoder costs more than the statement that stores them.
    static func text<Element: Encodable>(_ list: [Element]) throws -> String {
        list.isEmpty ? "[]" : String(decoding: try encoder.encode(list), as: UTF8.self)
    }

    /// Encodes a list of names without an encoder. Every transaction stores several, and an encoder costs more than the
    /// statement.
    static func text(_ names: [String]) throws -> String { text(JSON.array(names, JSON.string)) }

    static func text(_ members: [String: String]) throws -> String {
        text(JSON.object(members.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    static func text(_ value: JSONValue) -> String { text(.value(value)) }

    static func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }

    static func text(_ request: TransactionRequest) -> String { text(StoredRequest(request).json) }

    static func text(_ diagnostics: [Diagnostic]) throws -> String { try text(diagnostics.map(StoredDiagnostic.init)) }

    static func request(_ text: String) throws -> TransactionRequest {
        try value(text, as: StoredRequest.self).value
    }

    /// Decodes a list of names without a decoder.
    /// - Throws: `DecodingError` for any other text.
    static func names(_ text: String) throws -> [String] {
        let document = try JSONDocument(text.utf8)
        return try document.value.arrayValue?.compactMap(\.stringValue) ?? document.decode()
    }

    /// Decodes an object, an empty one without a decoder.
    static func object(_ text: String) throws -> JSONValue {
        text == "{}" ? .object([:]) : try JSONDocument(text.utf8).decode(JSONValue.self)
    }

    static func diagnostics(_ text: String) throws -> [Diagnostic] {
        try value(text, as: [StoredDiagnostic].self).map(\.value)
    }

    static func value<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDocument(text.utf8).decode(type)
    }

    /// Decodes a list, an empty one without a decoder.
    static func value<Element: Decodable>(
        _ text: String, as type: [Element].Type = [Element].self
    ) throws -> [Element] {
        text == "[]" ? [] : try JSONDocument(text.utf8).decode(type)
    }

    static func value(_ text: String, as type: [String].Type = [String].self) throws -> [String] { try names(text) }

    static func value(
        _ text: String, as type: [String: String].Type = [String: String].self
    ) throws -> [String: String] {
        text == "{}" ? [:] : try JSONDocument(text.utf8).decode(type)
    }
}
