import Basics
import HTTPTypes
import NIOHTTP1
import NIOHTTPTypesHTTP1

extension HTTPRequestHead {
    /// The status to refuse the request with; nil for an unambiguous head.
    ///
    /// Ambiguous heads could be read differently by a proxy before this server (request smuggling).
    var refusal: HTTPResponseStatus? {
        let lengths = headers["content-length"]
        let encodings = headers[canonicalForm: "transfer-encoding"]
        if lengths.count > 1 || (!lengths.isEmpty && !encodings.isEmpty) { return .badRequest }
        if let length = lengths.first, !length.utf8.allSatisfy(\.isDigit) { return .badRequest }
        if !encodings.isEmpty, encodings.map({ $0.lowercased() }) != ["chunked"] { return .notImplemented }
        if !encodings.isEmpty, version != .http1_1 { return .badRequest }
        let hosts = headers["host"]
        for field in headers where CombiningMarks.areTooMany(in: field.value.utf8) { return .badRequest }
        if hosts.count > 1 || (hosts.isEmpty && version == .http1_1) { return .badRequest }
        return nil
    }

    /// Whether the request asks to switch to WebSocket.
    var isWebSocketRequest: Bool {
        method == .GET && version == .http1_1 && headers["upgrade"].map { $0.lowercased() } == ["websocket"]
            && headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
            && [[], ["0"]].contains(headers["content-length"]) && headers["transfer-encoding"].isEmpty
    }

    /// The request in the type of HTTPTypes. Only a target with a host needs its path found (RFC 9112, section 3.2.2).
    /// - Throws: `HTTP1TypeConversionError` for a method that is no token.
    func request(isSecure: Bool) throws -> HTTPRequest {
        guard uri.utf8.first == UInt8(ascii: "/") else {
            return try HTTPRequest(self, secure: isSecure, splitCookie: false)
        }
        return HTTPRequest(
            method: try HTTPRequest.Method(method), scheme: isSecure ? "https" : "http",
            authority: headers["host"].first, path: uri, headerFields: HTTPFields(headers, splitCookie: false))
    }
}
