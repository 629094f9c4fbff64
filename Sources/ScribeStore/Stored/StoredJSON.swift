import Foundation
import ScribeDomain

/// JSON columns.
enum StoredJSON {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return encoder
    }()

    static func text(_ value: some Encodable) throws -> String {
        // Most collections are empty, and an encoder costs more than the statement that stores them.
        if let collection = value as? any JSONCollection, collection.isEmpty { return type(of: collection).emptyText }
        if let text = (value as? any PlainJSON)?.plainText { return text }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func text(_ request: TransactionRequest) throws -> String { try text(StoredRequest(request)) }

    static func text(_ diagnostics: [Diagnostic]) throws -> String { try text(diagnostics.map(StoredDiagnostic.init)) }

    static func request(_ text: String) throws -> TransactionRequest {
        try value(text, as: StoredRequest.self).value
    }

    /// A list of names.
    static func names(_ text: String) throws -> [String] {
        guard case .array(let names) = JSONDocument.written(text) else { return try value(text) }
        return names.compactMap(\.stringValue)
    }

    static func diagnostics(_ text: String) throws -> [Diagnostic] {
        try value(text, as: [StoredDiagnostic].self).map(\.value)
    }

    static func value<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        if text.utf8.count == 2, let type = type as? any JSONCollection.Type, text == type.emptyText,
            let empty = type.init() as? Value
        {
            return empty
        }
        return try JSONDocument(Data(text.utf8)).decode(type)
    }
}

/// What can be written without an encoder when nothing in it needs an escape, as few names of files and headers do.
protocol PlainJSON {
    /// nil when something does.
    var plainText: String? { get }
}

extension Array: PlainJSON where Element == String {
    var plainText: String? {
        contains(where: \.needsJSONEscape) ? nil : "[\"\(joined(separator: "\",\""))\"]"
    }
}

extension Dictionary: PlainJSON where Key == String, Value == String {
    var plainText: String? {
        if contains(where: { $0.key.needsJSONEscape || $0.value.needsJSONEscape }) { return nil }
        return "{\(map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ","))}"
    }
}

/// What can be empty.
private protocol JSONCollection {
    static var emptyText: String { get }
    var isEmpty: Bool { get }
    init()
}

extension Array: JSONCollection {
    fileprivate static var emptyText: String { "[]" }
}

extension Dictionary: JSONCollection where Key == String {
    fileprivate static var emptyText: String { "{}" }
}
