package import HTTPTypes

/// Head of a recorded request.
package enum RecordedHead: Sendable {
    case fields(HTTPRequest)
    /// The bytes of a request that came whole. To keep them takes less memory and time than to keep fields.
    case bytes(SentHead)

    /// Method, address and fields.
    package var request: HTTPRequest {
        switch self {
        case .fields(let request): request
        case .bytes(let head): head.request
        }
    }

    /// Method, and path with its query, without reading the fields; no path for a request without one.
    package var line: (method: String, path: String?) {
        switch self {
        case .fields(let request): return (request.method.rawValue, request.path)
        case .bytes(let head):
            let words = head.bytes.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
                .prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
                .split(separator: UInt8(ascii: " "), maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
            return (words.first ?? "GET", words.count > 1 ? words[1] : nil)
        }
    }

    /// About the memory that the head takes, in bytes.
    var size: Int {
        switch self {
        case .fields(let request):
            request.headerFields.reduce(request.path?.utf8.count ?? 0) { $0 + HTTPField.overhead + $1.size }
        case .bytes(let head): head.bytes.count
        }
    }
}

extension HTTPField {
    /// About the memory of a field without the bytes of its name and value.
    static let overhead = 200

    /// Bytes of the name and the value.
    var size: Int { name.rawName.utf8.count + value.utf8.count }
}
