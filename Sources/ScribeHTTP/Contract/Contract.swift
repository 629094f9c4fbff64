package import Basics
import Documents
import Foundation
package import Journal

/// Contract of the emulated APIs, `openapi/scribe.yaml`: what requests and answers of each operation have.
package final class Contract: Sendable {
    /// An operation as the contract has it.
    package final class Operation: Sendable {
        private struct Parameter: Sendable {
            let place: String
            let name: String
            let isRequired: Bool
            let types: [String]
            let schema: JSONSchema
        }

        package let id: String
        /// False if no parameter needs a check.
        var hasParameters: Bool { !parameters.isEmpty }
        private let parameters: [Parameter]
        private let needsBody: Bool
        /// nil for a body that is no JSON.
        private let body: JSONSchema?
        /// JSON answers by their status.
        private let answers: [Int: JSONSchema]

        /// - Throws: ``JSONSchema/Unsupported``.
        fileprivate init(
            _ operation: JSONValue, of path: JSONValue, _ library: JSONSchema.Library
        ) throws(JSONSchema.Unsupported) {
            func resolved(_ value: JSONValue) throws(JSONSchema.Unsupported) -> JSONValue {
                guard let reference = value["$ref"]?.stringValue else { return value }
                return try library.value(at: reference)
            }
            func json(_ value: JSONValue?) throws(JSONSchema.Unsupported) -> JSONSchema? {
                guard let schema = value?["content"]?["application/json"]?["schema"] else { return nil }
                return try JSONSchema(schema, library)
            }
            id = operation["operationId"]?.stringValue ?? ""
            let listed = (path["parameters"]?.arrayValue ?? []) + (operation["parameters"]?.arrayValue ?? [])
            var parameters: [Parameter] = []
            for value in listed {
                let value = try resolved(value)
                guard let place = value["in"]?.stringValue, place != "path", let name = value["name"]?.stringValue,
                    let schema = value["schema"]
                else { continue }
                let found = try resolved(schema)
                let type = found["type"]
                // Most polls have nothing else, and are not to be slower for it.
                let isAnyText = type == .string("string") && JSONSchema.isOnlyType(found)
                guard value["required"] == .bool(true) || !isAnyText else { continue }
                parameters.append(
                    Parameter(
                        place: place, name: name, isRequired: value["required"] == .bool(true),
                        types: type?.arrayValue?.compactMap(\.stringValue) ?? [type?.stringValue ?? "string"],
                        schema: try JSONSchema(schema, library)))
            }
            self.parameters = parameters
            let request = try operation["requestBody"].map(resolved)
            needsBody = request?["required"] == .bool(true)
            body = try json(request)
            var answers: [Int: JSONSchema] = [:]
            if case .object(let responses)? = operation["responses"] {
                for (status, response) in responses {
                    guard let status = Int(status) else { continue }
                    answers[status] = try json(try resolved(response))
                }
            }
            self.answers = answers
        }

        /// Findings about parameters of the query and fields of the head.
        func findings(query: (String) -> [String], header: (String) -> [String]) -> [Remark] {
            parameters.compactMap { parameter in
                let values = parameter.place == "query" ? query(parameter.name) : header(parameter.name)
                guard let text = values.first else {
                    guard parameter.isRequired else { return nil }
                    return Remark(parameter.name, "is missing")
                }
                let isFitting = Self.readings(of: values, text, parameter.types).contains(
                    where: parameter.schema.admits)
                return isFitting ? nil : Remark(parameter.name, "has a value that is not documented")
            }
        }

        /// A parameter is a text, which may stand for a value of another type.
        private static func readings(of values: [String], _ text: String, _ types: [String]) -> [JSONValue] {
            types.compactMap { type -> JSONValue? in
                switch type {
                case "integer": Int64(text).map(JSONValue.integer)
                case "number": Double(text).map(JSONValue.number)
                case "boolean": ["true": JSONValue.bool(true), "false": .bool(false)][text.lowercased()]
                case "array": .array(values.map(JSONValue.string))
                default: .string(text)
                }
            }
        }

        /// Findings about the body of a request.
        /// - Parameter value: nil for a body that is missing.
        func findings(inBody value: JSONValue?) -> [Remark] {
            guard let value else { return needsBody ? [Remark("", "has no body")] : [] }
            return body?.mismatches(of: value) ?? []
        }

        /// Whether the contract says which JSON an answer of this status has.
        func hasAnswer(_ status: Int) -> Bool { answers[status] != nil }

        /// Findings about the body of an answer; nil for one of which the contract has no JSON.
        package func findings(inAnswer value: JSONValue, status: Int) -> [Remark]? {
            answers[status]?.mismatches(of: value).map(\.ofAnswer)
        }
    }

    private let operations: [String: Operation]

    /// - Parameter document: An OpenAPI document.
    /// - Throws: ``JSONSchema/Unsupported``.
    init(_ document: JSONValue) throws(JSONSchema.Unsupported) {
        let library = JSONSchema.Library(document)
        var operations: [String: Operation] = [:]
        if case .object(let paths)? = document["paths"] {
            for (path, item) in paths {
                let item = try item["$ref"]?.stringValue.map(library.value) ?? item
                guard case .object(let members) = item else { continue }
                for (method, operation) in members where operation["responses"] != nil {
                    operations[Self.key(method.uppercased(), path)] = try Operation(operation, of: item, library)
                }
            }
        }
        self.operations = operations
    }

    /// `openapi/scribe.yaml`, read when it is first asked for.
    package static let documented: Contract? = JSONDocument.untrusted(
        Data(document_scribe_json().bytes), as: JSONValue.self
    ).flatMap { try? Contract($0) }

    /// - Parameter pattern: Path with parameters in braces, whatever their names.
    package func operation(_ method: String, _ pattern: String) -> Operation? { operations[Self.key(method, pattern)] }

    package var all: [Operation] { Array(operations.values) }

    private static func key(_ method: String, _ pattern: String) -> String {
        let words = pattern.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : $0 }
        return "\(method) /\(words.joined(separator: "/"))"
    }
}
