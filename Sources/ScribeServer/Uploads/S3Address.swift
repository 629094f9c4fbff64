import ScribeDomain

/// What a request to the object API is about: a bucket, or an object in it.
struct S3Address: Hashable, Sendable {
    let bucket: String
    /// nil for the bucket itself.
    let key: String?

    /// The longest key, in bytes.
    static let keyLimit = 1024

    /// - Parameters:
    ///   - host: the `Host` header; a bucket in it wins (virtual-host style), else the path begins with one.
    ///   - path: as received, still percent-encoded.
    /// - Throws: ``S3Error/invalidURI`` for broken escapes, control characters and segments that mean a folder above,
    ///   ``S3Error/keyTooLong``.
    init(host: String, path: String) throws(S3Error) {
        guard let decoded = PercentEncoding.decode(path.drop { $0 == "/" }) else { throw .invalidURI }
        if let bucket = AudioLocation.bucket(ofVirtualHost: host) {
            self.bucket = bucket
            key = decoded.isEmpty ? nil : decoded
        } else {
            let parts = decoded.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            bucket = String(parts.first ?? "")
            key = parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : nil
        }
        guard Self.isBucketName(bucket) else { throw .invalidURI }
        if let key {
            guard key.utf8.count <= Self.keyLimit else { throw .keyTooLong }
            let segments = key.split(separator: "/", omittingEmptySubsequences: false)
            guard key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
                !segments.contains(where: { $0 == ".." || $0 == "." })
            else { throw .invalidURI }
        }
    }

    /// Wider than S3's own rule: the Python SDK may well name a bucket `None` (C-60).
    private static func isBucketName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
