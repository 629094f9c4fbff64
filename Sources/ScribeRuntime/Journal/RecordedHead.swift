import HTTPTypes

/// Head of a request or of an answer, with its fields in one piece of memory: a journal holds thousands of them.
struct RecordedHead: Sendable {
    private let method: HTTPRequest.Method
    private let scheme: String?
    private let authority: String?
    private let path: String?
    private let status: HTTPResponse.Status?
    private let fields: [UInt8]

    init(_ request: HTTPRequest) {
        (method, scheme, authority, path) = (request.method, request.scheme, request.authority, request.path)
        status = nil
        fields = Self.bytes(of: request.headerFields)
    }

    init(_ response: HTTPResponse) {
        (method, scheme, authority, path) = (.get, nil, nil, nil)
        status = response.status
        fields = Self.bytes(of: response.headerFields)
    }

    /// About the memory of the head, in bytes.
    var size: Int {
        fields.count + (path?.utf8.count ?? 0) + (authority?.utf8.count ?? 0) + method.rawValue.utf8.count
    }

    var request: HTTPRequest {
        HTTPRequest(
            method: method, scheme: scheme, authority: authority, path: path, headerFields: Self.fields(of: fields))
    }

    var response: HTTPResponse? { status.map { HTTPResponse(status: $0, headerFields: Self.fields(of: fields)) } }

    /// Lines of names and values. Neither has a line feed.
    private static func bytes(of fields: HTTPFields) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fields.isEmpty ? 0 : 512)
        for field in fields {
            var (name, value) = (field.name.rawName, field.value)
            name.withUTF8 { bytes.append(contentsOf: $0) }
            bytes.append(UInt8(ascii: ":"))
            value.withUTF8 { bytes.append(contentsOf: $0) }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private static func fields(of bytes: [UInt8]) -> HTTPFields {
        var fields = HTTPFields()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { continue }
            fields.append(
                HTTPField(name: name, value: String(decoding: line[(colon + 1)...], as: UTF8.self)))
        }
        return fields
    }
}
