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
                        takesBody: body != nil && !isForm)
                }
            }
        }
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
