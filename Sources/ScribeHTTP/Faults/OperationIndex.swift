import Basics
import Documents
package import HTTPTypes
import Hummingbird
import ScribeDomain

/// Operations of the emulated APIs, by their ids in `openapi/scribe.yaml`.
package struct OperationIndex: Sendable {
    /// An operation with its place.
    package struct Operation: Hashable, Sendable {
        package let id: String
        package let method: HTTPRequest.Method
        /// Path with parameters in braces.
        package let path: String
        /// Whether the operation opens a socket.
        package var isSocket = false

        /// Begin of the path, up to its first parameter.
        var literalStart: Substring { path.prefix { $0 != "{" } }
    }

    private struct Shape: Hashable {
        let method: HTTPRequest.Method
        let count: Int
    }

    private let byID: [String: Operation]
    /// Operations with equally many path components, the ones with the fewest parameters first.
    private let byShape: [Shape: [(words: [Substring], id: String)]]

    package init(_ operations: [Operation]) {
        byID = Dictionary(operations.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var shapes: [Shape: [(words: [Substring], id: String)]] = [:]
        for operation in operations {
            let words = operation.path[...].split(ascii: "/")
            shapes[Shape(method: operation.method, count: words.count), default: []].append((words, operation.id))
        }
        byShape = shapes.mapValues { shape in
            shape.sorted { $0.words.count { $0.hasPrefix("{") } < $1.words.count { $0.hasPrefix("{") } }
        }
    }

    /// All ids, sorted.
    package var ids: [String] { byID.keys.sorted() }

    package subscript(id: String) -> Operation? { byID[id] }

    /// Operations that a rule is about; none if its conditions name neither an operation nor a whole path.
    func operations(of match: FaultMatch) -> [Operation] {
        if let id = match.operation { return [self[id]].compactMap(\.self) }
        guard let path = match.path?.text, !path.contains("*") else { return [] }
        let methods = match.method.map { [$0] } ?? ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return methods.compactMap { HTTPRequest.Method($0) }
            .compactMap { operation(of: $0, path).flatMap { self[$0] } }
    }

    /// The operation id of a request; nil if no operation matches.
    package func operation(of method: HTTPRequest.Method, _ path: String) -> String? {
        let words = path[...].split(ascii: "/")
        let asked = method == .head ? .get : method
        return byShape[Shape(method: asked, count: words.count)]?.first { shape in
            zip(words, shape.words).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
        }?.id
    }
}

extension OperationIndex {
    /// Operations of `openapi/scribe.yaml`.
    package static let documented = OperationIndex(
        String(decoding: document_operations().bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count >= 3, let method = HTTPRequest.Method(String(words[0])) else { return nil }
            return Operation(
                id: String(words[2]), method: method, path: String(words[1]), isSocket: words.last == "socket")
        })
}
