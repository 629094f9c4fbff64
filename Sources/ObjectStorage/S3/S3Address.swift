import Foundation

/// Address of objects in S3: `s3://bucket/prefix?endpoint=https://host&region=us-east-1`.
package struct S3Address: Sendable {
    /// Scheme, host and port of the service.
    let endpoint: URL
    /// Host as requests name it, with the port unless that is the scheme's own.
    let host: String
    let bucket: String
    /// Beginning of all keys: empty, or a text that ends with a slash.
    let prefix: String
    let region: String

    /// Keys of the service, as the AWS tools have them in the environment.
    package struct Credentials: Sendable {
        let keyID: String
        let secret: String
        let token: String?

        /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
        /// - Returns: nil without key and secret.
        package init?(environment: [String: String]) {
            guard let keyID = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"]
            else { return nil }
            (self.keyID, self.secret, token) = (keyID, secret, environment["AWS_SESSION_TOKEN"])
        }
    }

    /// Reads an address. Without an endpoint it is AWS's own for the region, which is `us-east-1` by default.
    /// - Returns: nil for a text of another form.
    package init?(_ text: String) {
        guard let parts = URLComponents(string: text), parts.scheme == "s3", let bucket = parts.host, !bucket.isEmpty
        else { return nil }
        func item(_ name: String) -> String? { parts.queryItems?.first { $0.name == name }?.value }
        region = item("region") ?? "us-east-1"
        guard let endpoint = URL(string: item("endpoint") ?? "https://s3.\(region).amazonaws.com"),
            ["http", "https"].contains(endpoint.scheme), let host = endpoint.host,
            (1...65535).contains(endpoint.port ?? 443)
        else { return nil }
        self.endpoint = endpoint
        self.host = endpoint.port.map { "\(host):\($0)" } ?? host
        self.bucket = bucket
        let path = parts.path.split(separator: "/").joined(separator: "/")
        prefix = path.isEmpty ? "" : path + "/"
    }

    /// The address without its query, for people.
    package var shown: String { "s3://\(bucket)/\(prefix)" }
}
