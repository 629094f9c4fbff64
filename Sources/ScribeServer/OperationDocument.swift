import HTTPTypes
import NIOPosix
import ScribeHTTP
import Status
import Yams

/// Reads the operations of `openapi/scribe.yaml`.
enum OperationDocument {
    /// Index of all operations with a path, for all servers of the process. Its first use reads the document.
    static let index = LazyOperationIndex {
        try await NIOThreadPool.singleton.runIfActive { OperationIndex(try operations()) }
    }

    /// Blocking, and takes a second in a debug build.
    private static func operations() throws -> [OperationIndex.Operation] {
        let paths = try compose(yaml: String(decoding: StatusFamily.openAPI, as: UTF8.self))?["paths"]?.mapping
        var operations: [OperationIndex.Operation] = []
        for (path, item) in paths ?? [:] {
            guard let path = path.string, let methods = item.mapping else { continue }
            for (name, operation) in methods {
                guard let method = name.string.flatMap({ HTTPRequest.Method($0.uppercased()) }),
                    let id = operation["operationId"]?.string
                else { continue }
                let answers = operation["responses"]?.mapping?.keys.compactMap(\.string) ?? []
                operations.append(.init(id: id, method: method, path: path, isSocket: answers.contains("101")))
            }
        }
        return operations
    }
}
