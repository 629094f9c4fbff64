import ScribeDomain
import ScribeHTTP

/// An object's bucket and key.
struct S3ObjectAddress: Hashable, Sendable {
    let bucket: String
    let key: String
}

/// What the host and path of a request to the object API name.
enum S3Address: Hashable, Sendable {
    /// `/` of a host that names no bucket.
    case service
    case bucket(String)
    case object(S3ObjectAddress)

    /// Whether the bucket is one that clients have compiled in.
    var isKnown: Bool {
        switch self {
        case .service: false
        case .bucket(let bucket): S3Family.buckets.contains(bucket)
        case .object(let object): S3Family.buckets.contains(object.bucket)
        }
    }

    /// The longest key, in bytes.
    static let keyLimit = 1024

    /// - Parameters:
    ///   - host: the `Host` header; a bucket in it wins (virtual-host style), else the path begins with one.
    ///   - path: as received, still percent-encoded.
    /// - Throws: ``S3Error/invalidURI`` for broken escapes, control characters and segments that mean a folder above,
    ///   ``S3Error/keyTooLong``.
    init(host: String, path: String) throws(S3Error) {
        let hostBucket = AudioLocation.bucket(ofVirtualHost: host)
        // One slash separates; those that follow are the key's own.
        guard let decoded = PercentEncoding.decode(path.dropFirst(path.hasPrefix("/") ? 1 : 0)) else {
            throw .invalidURI
        }
        let bucket: String
        let key: String
        if let hostBucket {
            (bucket, key) = (hostBucket, decoded)
        } else {
            // By bytes: a combining character would make another letter of the slash before it.
            let slash = decoded.utf8.firstIndex(of: UInt8(ascii: "/")) ?? decoded.endIndex
            bucket = String(decoded[..<slash])
            key = slash < decoded.endIndex ? String(decoded[decoded.utf8.index(after: slash)...]) : ""
        }
        if bucket.isEmpty && key.isEmpty {
            self = .service
            return
        }
        guard Self.isBucketName(bucket) else { throw .invalidURI }
        if key.isEmpty {
            self = .bucket(bucket)
            return
        }
        guard key.utf8.count <= Self.keyLimit else { throw .keyTooLong }
        let segments = key.split(ascii: "/", omittingEmptySubsequences: false)
        guard key.isPlain, !segments.contains(where: { $0 == ".." || $0 == "." }) else { throw .invalidURI }
        self = .object(S3ObjectAddress(bucket: bucket, key: key))
    }

    /// Wider than S3's own rule: the Python SDK may well name a bucket `None` (C-60).
    private static func isBucketName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
    }
}
