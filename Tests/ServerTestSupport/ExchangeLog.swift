import Basics
import Foundation
import HTTPTypes
import ScribeHTTP

/// Writes down what every test of this target exchanges with a server, for `Tests/EndToEndTests/check_exchanges.py` to
/// hold against the OpenAPI document. Only where `SCRIBE_EXCHANGES` names a file.
package enum ExchangeLog {
    private struct Line: Encodable {
        let method: String
        let path: String
        let status: Int
        let type: String
        let body: String
        /// Whether the body fits the contract, by the server's own reader of it; nil for a body of another document.
        let fits: Bool?
    }

    private static let file: FileHandle? = ProcessInfo.processInfo.environment["SCRIBE_EXCHANGES"].flatMap { path in
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let descriptor = open(path, O_WRONLY | O_APPEND)
        return descriptor >= 0 ? FileHandle(fileDescriptor: descriptor) : nil
    }

    /// Most answers of an operation and a status whose verdict is written down: each takes a while.
    private static let mostVerdicts = 20
    private static let verdicts = LockedValue<[String: Int]>([:])

    private static func fits(_ method: HTTPRequest.Method, _ path: String, _ answer: TestAnswer) -> Bool? {
        guard let id = OperationIndex.documented.operation(of: method, path),
            let operation = OperationIndex.documented[id],
            verdicts.withLock({ verdicts in
                verdicts["\(id) \(answer.status)", default: 0] += 1
                return verdicts["\(id) \(answer.status)", default: 0] <= mostVerdicts
            }),
            let value = JSONDocument.untrusted(answer.body, as: JSONValue.self)
        else { return nil }
        return Contract.documented?.operation(operation.method.rawValue, operation.path)?
            .findings(inAnswer: value, status: answer.status)?.isEmpty
    }

    package static func append(_ method: HTTPRequest.Method, _ uri: String, _ answer: TestAnswer) {
        // The console has no document: its routes are for its own pages.
        if uri.hasPrefix("/__console") { return }
        // What a fault rule answers is no part of the contract.
        guard let file, answer.headers[.scribeFaultApplied] == nil else { return }
        // The document has the paths without a namespace, and no answers to the choice of one.
        var path = uri.prefix { $0 != "?" }
        if path.hasPrefix("/ns/") { path = path.dropFirst(4).drop { $0 != "/" } }
        if uri.hasPrefix("/ns/") && answer.status == 404 || answer.text.contains("namespace_not_found") { return }
        let type = answer.headers[.contentType] ?? ""
        let line = Line(
            method: method.rawValue, path: String(path), status: answer.status, type: type,
            // The document says nothing of other bytes.
            body: type.contains("json") ? answer.text : "",
            fits: type.hasPrefix("application/json") ? fits(method, String(path), answer) : nil
        )
        guard let data = try? JSONEncoder().encode(line) else { return }
        // One write for one line: tests run in parallel.
        file.write(data + Data("\n".utf8))
    }
}
