import Basics
import Eka
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOSSL
import S3
import ScribeHTTP
import ScribeServer
import ServiceLifecycle
import TestSupport
import Testing

/// What came back.
package struct TestAnswer {
    package let status: Int
    package let headers: HTTPFields
    package let body: Data

    package init(_ head: HTTPResponse, _ body: ByteBuffer?) {
        status = head.status.code
        headers = head.headerFields
        self.body = body.map { Data($0.readableBytesView) } ?? Data()
    }

    package var json: JSONValue { (try? JSONDocument(body).value) ?? .null }
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// A text by its path, for example `error.code`.
    /// - Throws: when nothing is there, or no text, so that two missing texts are never taken for equal.
    package subscript(path: String) -> String {
        get throws {
            guard let text = value(at: path)?.stringValue else {
                throw Missing(description: "no text at '\(path)' in \(status): \(self.text)")
            }
            return text
        }
    }

    /// The same where there may be none.
    package func optional(_ path: String) -> String? { value(at: path)?.stringValue }

    /// Whether there is anything but null at a path.
    package func has(_ path: String) -> Bool { value(at: path).map { $0 != .null } ?? false }

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
