import Crypto
import Foundation
import HTTPTypes

/// The client's half of SigV4, written apart from the server's so that they can disagree.
struct RequestSigner {
    let accessKeyID: String
    let secretKey: String
    let sessionToken: String
    var host = "localhost"

    /// Headers for a header-signed request.
    func sign(
        _ method: String, _ path: String, at date: Date, payload: String = "UNSIGNED-PAYLOAD",
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
            method, path, "", headers.map { "\($0.0):\($0.1)\n" }.joined(), names, payload,
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
    func presign(_ method: String, _ path: String, at date: Date, expires: Int = 3000) -> String {
        let stamp = Self.stamp(date)
        let credential = "\(accessKeyID)/\(scope(stamp))".replacingOccurrences(of: "/", with: "%2F")
        let token =
            sessionToken.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~")))
            ?? ""
        let query = [
            "X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Credential=\(credential)", "X-Amz-Date=\(stamp)",
            "X-Amz-Expires=\(expires)", "X-Amz-SignedHeaders=host", "X-Amz-Security-Token=\(token)",
        ]
        let canonical = [
            method, path, query.sorted().joined(separator: "&"), "host:\(host)\n", "host", "UNSIGNED-PAYLOAD",
        ].joined(separator: "\n")
        return "\(path)?" + ([query[0]] + query[1...]).joined(separator: "&")
            + "&X-Amz-Signature=\(signature(of: canonical, stamp))"
    }

    private func scope(_ stamp: String) -> String { "\(stamp.prefix(8))/ap-south-1/s3/aws4_request" }

    private func signature(of canonical: String, _ stamp: String) -> String {
        let digest = SHA256.hash(data: Data(canonical.utf8)).map { String(format: "%02x", $0) }.joined()
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope(stamp))\n\(digest)"
        var key = SymmetricKey(data: Data("AWS4\(secretKey)".utf8))
        for part in scope(stamp).split(separator: "/") {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        return HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
            .map { String(format: "%02x", $0) }.joined()
    }

    private static func stamp(_ date: Date) -> String {
        date.formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false).timeSeparator(
                .omitted
            ).timeZone(separator: .omitted)
        )
        .replacingOccurrences(of: "+0000", with: "Z")
    }
}
