import Basics
import Crypto
import Foundation

/// Signature Version 4 of a request to S3, made by the client.
struct S3Signature {
    let address: S3Address
    let credentials: S3Address.Credentials

    /// Signs a request, whose body is not part of the signature: TLS and the MD5 of the body protect it.
    /// - Parameters:
    ///   - path: the path, percent-encoded.
    ///   - query: the query with sorted, percent-encoded parameters.
    ///   - headers: further headers to sign, by lower-case names.
    /// - Returns: all headers to send, with the signature.
    func headers(
        _ method: String, path: String, query: String, _ headers: [String: String], at date: Date
    ) -> [(String, String)] {
        let timestamp = Self.timestamp(of: date)
        let day = timestamp.prefix(8)
        var all = headers
        all["host"] = address.host
        all["x-amz-content-sha256"] = "UNSIGNED-PAYLOAD"
        all["x-amz-date"] = timestamp
        if let token = credentials.token { all["x-amz-security-token"] = token }
        let names = all.keys.sorted()
        let signed = names.joined(separator: ";")
        let fields = names.map { "\($0):\(all[$0] ?? "")\n" }.joined()
        let request = "\(method)\n\(path)\n\(query)\n\(fields)\n\(signed)\nUNSIGNED-PAYLOAD"
        let scope = "\(day)/\(address.region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(timestamp)\n\(scope)\n\(Hex.encode(SHA256.hash(data: Data(request.utf8))))"
        var key = SymmetricKey(data: Data("AWS4\(credentials.secret)".utf8))
        for part in [String(day), address.region, "s3", "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        let signature = Hex.encode(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(credentials.keyID)/\(scope), SignedHeaders=\(signed), Signature=\(signature)"
        return all.sorted { $0.key < $1.key }.filter { $0.key != "host" } + [("authorization", authorization)]
    }

    /// Time in the form `yyyyMMdd'T'HHmmss'Z'`.
    private static func timestamp(of date: Date) -> String {
        date.iso8601.filter { $0 != "-" as Character && $0 != ":" as Character }
    }
}
