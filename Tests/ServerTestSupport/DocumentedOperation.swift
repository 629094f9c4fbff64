import Control
import HTTPTypes
import Status
import Testing
import Yams

/// An operation of the OpenAPI documents, with a value in place of each path parameter.
package struct DocumentedOperation: CustomStringConvertible {
    package let method: HTTPRequest.Method
    package let path: String
    /// Whether it needs a credential.
    package let isSecured: Bool
    /// Whether it accepts a browser's cookie as its credential.
    package let takesCookie: Bool
    /// Whether it reads a JSON body.
    package let takesBody: Bool
    /// The members that the JSON of each answer has at least, by its status.
    package let answerMembers: [Int: Set<String>]

    package var description: String { "\(method) \(path)" }

    /// The ambient session in the paths: its id must be a UUID, where every other id may be any text and is `t`.
    package static let ambientSession = "8f14e45f-ceea-467f-a1b2-0c3d4e5f6071"

    /// Every operation of every document.
    package static func all() throws -> [DocumentedOperation] {
        try documents().flatMap { document -> [DocumentedOperation] in
            let usual = document["security"] as? [[String: Any]]
            return try paths(of: document).flatMap { path, item -> [DocumentedOperation] in
                item.compactMap { name, value -> DocumentedOperation? in
                    guard let operation = value as? [String: Any],
                        let method = HTTPRequest.Method(name.uppercased())
                    else { return nil }
                    let security = operation["security"] as? [[String: Any]] ?? usual ?? []
                    let body = operation["requestBody"] as? [String: Any]
                    let content = body?["content"] as? [String: Any]
                    let isForm =
                        content?["application/json"] == nil && body?["$ref"] == nil
                        || content?["application/octet-stream"] != nil
                    let id = path.hasPrefix("/api/v1/ambient/session") ? ambientSession : "t"
                    return DocumentedOperation(
                        method: method,
                        path: path.replacing("{txn_id}", with: id).replacing(/\{[a-z_]+\}/, with: "t"),
                        isSecured: !security.isEmpty, takesCookie: security.contains { $0["cookie"] != nil },
                        takesBody: body != nil && !isForm,
                        answerMembers: members(ofAnswersIn: operation, document))
                }
            }
        }
    }

    private static func members(
        ofAnswersIn operation: [String: Any], _ document: [String: Any]
    ) -> [Int: Set<String>] {
        let answers = operation["responses"] as? [String: Any] ?? [:]
        var members: [Int: Set<String>] = [:]
        for (status, answer) in answers {
            guard let status = Int(status), let answer = resolved(answer, document),
                let content = answer["content"] as? [String: [String: Any]],
                let json = content.first(where: { $0.key.hasSuffix("json") })?.value
            else { continue }
            members[status] = required(by: json["schema"], document)
        }
        return members
    }

    private static func required(by schema: Any?, _ document: [String: Any]) -> Set<String> {
        guard let schema = resolved(schema, document) else { return [] }
        let own = Set(schema["required"] as? [String] ?? [])
        let parts = schema["allOf"] as? [Any] ?? []
        // Of several the caller may get any.
        let choices = (schema["anyOf"] ?? schema["oneOf"]) as? [Any] ?? []
        let common = choices.map { required(by: $0, document) }.reduce(nil) { $0?.intersection($1) ?? $1 } ?? []
        return parts.reduce(own.union(common)) { $0.union(required(by: $1, document)) }
    }

    /// The object itself where there is a `$ref` to it.
    private static func resolved(_ node: Any?, _ document: [String: Any]) -> [String: Any]? {
        guard let node = node as? [String: Any] else { return nil }
        guard let reference = node["$ref"] as? String else { return node }
        let target = reference.dropFirst(2).split(separator: "/").reduce(document as Any?) {
            ($0 as? [String: Any])?[String($1)]
        }
        return resolved(target, document)
    }

    /// The `paths` objects of every document: path, and its path item by method.
    package static func paths() throws -> [(String, [String: Any])] { try documents().flatMap(paths(of:)) }

    private static func documents() throws -> [[String: Any]] {
        try [StatusFamily.openAPI, ControlFamily.openAPI].map { bytes in
            try #require(try Yams.load(yaml: String(decoding: bytes, as: UTF8.self)) as? [String: Any])
        }
    }

    private static func paths(of document: [String: Any]) throws -> [(String, [String: Any])] {
        try #require(document["paths"] as? [String: [String: Any]]).map { ($0.key, $0.value) }
    }
}
