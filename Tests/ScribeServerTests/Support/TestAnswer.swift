import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOSSL
import ScribeDomain
import ServiceLifecycle
import TestSupport
import Testing

@testable import Eka
@testable import Engines
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// What came back.
struct TestAnswer {
    let status: Int
    let headers: HTTPFields
    let body: Data

    init(_ head: HTTPResponse, _ body: ByteBuffer?) {
        status = head.status.code
        headers = head.headerFields
        self.body = body.map { Data($0.readableBytesView) } ?? Data()
    }

    var json: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: body)) ?? .null }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// A text by its path, for example `error.code`.
    /// - Throws: when nothing is there, or no text, so that two missing texts are never taken for equal.
    subscript(path: String) -> String {
        get throws {
            guard let text = value(at: path)?.stringValue else {
                throw Missing(description: "no text at '\(path)' in \(status): \(self.text)")
            }
            return text
        }
    }

    /// The same where there may be none.
    func optional(_ path: String) -> String? { value(at: path)?.stringValue }

    /// Whether there is anything but null at a path.
    func has(_ path: String) -> Bool { value(at: path).map { $0 != .null } ?? false }

    private func value(at path: String) -> JSONValue? {
        path.split(separator: ".").reduce(Optional(json)) { value, name in
            if let index = Int(name), case .array(let items)? = value {
                return items.indices.contains(index) ? items[index] : nil
            }
            return value?[String(name)]
        }
    }

    private struct Missing: Error, CustomStringConvertible {
        let description: String
    }
}
