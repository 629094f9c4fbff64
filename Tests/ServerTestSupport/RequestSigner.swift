import Crypto
import Foundation
import HTTPTypes

/// The client's half of SigV4, written apart from the server's so that they can disagree.
package struct RequestSigner {
    package let accessKeyID: String
    package let secretKey: String
    package let sessionToken: String
    package var host: String
    package var region = "ap-south-1"

    package init(accessKeyID: String, secretKey: String, sessionToken: String, host: String = "localhost") {
        self.accessKeyID = accessKeyID
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.host = host
    }

    /// Headers for a header-signed request.
    /// - Parameter query: escaped and sorted, each name with a value.
    package func sign(
        _ method: String, _ path: String, query: String = "", at date: Date, payload: String = "UNSIGNED-PAYLOAD",
        extra: [(String, String)] = []
    ) -> HTTPFields {
        let stamp = Self.stamp(date)
        var headers = [
            ("host", host), ("x-amz-content-sha256", payload), ("x-amz-date", stamp),
            ("x-amz-security-token", sessionToken),
        ]
        headers += extra.map { ($0.0.lowercased(), $0.1) }
        headers.sort { $0.0 < $1.0 }
        let names = headers.map(\.0).joined(separator: ";")
        let canonical = [
            method, path, query, headers.map { "\($0.0):\($0.1)\n" }.joined(), names, payload,
        ].joined(separator: "\n")
        var fields = HTTPFields()
        for (name, value) in headers where name != "host" {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        fields[.authorization] =
            "AWS4-HMAC-SHA256 Credential=\(accessKeyID)/\(scope(stamp)), SignedHeaders=\(names), "
            + "Signature=\(signature(of: canonical, stamp))"
        return fields
    }

    /// A path with query for a query-signed request. The security token comes last, unsorted, as iOS sends it.
    /// - Parameter extra: headers that are signed too.
    package func presign(
        _ method: String, _ path: String, at date: Date, expires: Int = 3000, extra: [(String, String)] = []
    ) -> String {
        let stamp = Self.stamp(date)
        let credential = "\(accessKeyID)/\(scope(stamp))".replacingOccurrences(of: "/", with: "%2F")
        let token =
            sessionToken.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~")))
            ?? ""
        let headers = ([("host", host)] + extra).sorted { $0.0 < $1.0 }
        let names = headers.map(\.0)
        let query = [
            "X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Credential=\(credential)", "X-Amz-Date=\(stamp)",
            "X-Amz-Expires=\(expires)", "X-Amz-SignedHeaders=\(names.joined(separator: "%3B"))",
            "X-Amz-Security-Token=\(token)",
        ]
        let canonical = [
            method, path, query.sorted().joined(separator: "&"), headers.map { "\($0.0):\($0.1)\n" }.joined(),
            names.joined(separator: ";"), "UNSIGNED-PAYLOAD",
        ].joined(separator: "\n")
        return "\(path)?" + ([query[0]] + query[1...]).joined(separator: "&")
            + "&X-Amz-Signature=\(signature(of: canonical, stamp))"
    }

    private func scope(_ stamp: String) -> String { "\(stamp.prefix(8))/\(region)/s3/aws4_request" }

    private func signature(of canonical: String, _ stamp: String) -> String {
        hmac(of: "AWS4-HMAC-SHA256\n\(stamp)\n\(scope(stamp))\n\(Self.sha256(canonical))", stamp)
    }

    private func hmac(of text: String, _ stamp: String) -> String {
        var key = SymmetricKey(data: Data("AWS4\(secretKey)".utf8))
        for part in scope(stamp).split(separator: "/") {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        return HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
            .map { String(format: "%02x", $0) }.joined()
    }

    package static func sha256(_ data: Data) -> String {
        SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined()
    }

    private static func sha256(_ text: String) -> String { sha256(Data(text.utf8)) }

    private static func stamp(_ date: Date) -> String {
        date.formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false).timeSeparator(
                .omitted
            ).timeZone(separator: .omitted)
        )
        .replacingOccurrences(of: "+0000", with: "Z")
    }

    // MARK: Chunks

    /// A body in signed chunks with the headers for it, which need no `Content-Encoding` (eka.md 3.2).
    /// - Parameter extra: further headers to sign.
    package func signChunks(
        _ method: String, _ path: String, query: String = "", at date: Date, _ body: Data,
        extra: [(String, String)] = [], chunkSize: Int = 128 << 10
    ) -> (headers: HTTPFields, body: Data) {
        let headers = sign(
            method, path, query: query, at: date, payload: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
            extra: extra + [("x-amz-decoded-content-length", "\(body.count)")]
        )
        let stamp = Self.stamp(date)
        var signature = String((headers[.authorization] ?? "").suffix(64))
        var framed = Data()
        var rest = body[...]
        while true {
            let chunk = Data(rest.prefix(chunkSize))
            rest = rest.dropFirst(chunkSize)
            let text = [
                "AWS4-HMAC-SHA256-PAYLOAD", stamp, scope(stamp), signature, Self.sha256(Data()), Self.sha256(chunk),
            ]
            signature = hmac(of: text.joined(separator: "\n"), stamp)
            framed += Data("\(String(chunk.count, radix: 16));chunk-signature=\(signature)\r\n".utf8) + chunk
            framed += Data("\r\n".utf8)
            if chunk.isEmpty { return (headers, framed) }
        }
    }
}
