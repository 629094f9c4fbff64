package import HTTPTypes

/// Bytes of an HTTP/1 request without a body, as the client sent them.
///
/// The server's parser has accepted the head, and its target is a path. So this reader refuses nothing.
package struct SentHead: Sendable {
    /// The head, and nothing else.
    package let bytes: [UInt8]
    /// Whether the connection is encrypted.
    package let isSecure: Bool

    package init(_ bytes: [UInt8], isSecure: Bool) {
        self.bytes = bytes
        self.isSecure = isSecure
    }

    /// Method, address and fields, as the rest of the server gets them: the first `Host` is the authority.
    package var request: HTTPRequest {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
            .drop { $0.isEmpty }
            .prefix { !$0.isEmpty }
        let start = lines.first?.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) } ?? []
        var request = HTTPRequest(
            method: start.first.flatMap { HTTPRequest.Method($0) } ?? .get, scheme: isSecure ? "https" : "http",
            authority: nil, path: start.count > 1 ? start[1] : nil)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { continue }
            let value = String(decoding: line[(colon + 1)...].trimmed, as: UTF8.self)
            if request.authority == nil, name.canonicalName == "host" {
                request.authority = value
            } else {
                request.headerFields.append(HTTPField(name: name, value: value))
            }
        }
        return request
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without spaces and tabs at their ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return []
        }
        return self[first...last]
    }
}
