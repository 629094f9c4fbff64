import Basics
import ScribeDomain
import ScribeHTTP

/// Bucket and key of an object.
struct S3ObjectAddress: Hashable, Sendable {
    let bucket: String
    let key: String
}

/// Parses host and path of an S3 request.
enum S3Address: Hashable, Sendable {
    /// `/` on a host that names no bucket.
    case service
    case bucket(String)
    case object(S3ObjectAddress)

    /// Whether the bucket is compiled into the SDKs.
    var isKnown: Bool {
        switch self {
        case .service: false
        case .bucket(let bucket): S3Family.buckets.contains(bucket)
        case .object(let object): S3Family.buckets.contains(object.bucket)
        }
    }

    /// Longest key, in bytes.
    static let keyLimit = 1024

    /// Parses bucket and key from host and path.
    /// - Parameters:
    ///   - host: The `Host` header; a bucket in it (virtual-host style) wins over the path's first component.
    ///   - path: The path as received, still percent-encoded.
    /// - Throws: ``S3Error/invalidURI`` for broken escapes, control characters and more `..` than names before them,
    ///   ``S3Error/keyTooLong``.
    init(host: String, path: String) throws(S3Error) {
        let hostBucket = AudioLocation.bucket(ofVirtualHost: host)
        // One slash separates bucket and key; further slashes belong to the key.
        guard let decoded = PercentEncoding.decode(path.dropFirst(path.hasPrefix("/") ? 1 : 0)) else {
            throw .invalidURI
        }
        let bucket: String
        let key: String
        if let hostBucket {
            (bucket, key) = (hostBucket, decoded)
        } else {
            // By bytes: a combining character would merge with the slash before it.
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
        guard key.isPlain, !Self.leavesBucket(key) else { throw .invalidURI }
        self = .object(S3ObjectAddress(bucket: bucket, key: key))
    }

    /// Whether a key, read as a path, leads out of its bucket. Otherwise `.` and `..` are names like others, as on S3.
    private static func leavesBucket(_ key: String) -> Bool {
        var depth = 0
        for name in key.split(ascii: "/") where name != "." {
            depth += name == ".." ? -1 : 1
            if depth < 0 { return true }
        }
        return false
    }

    /// Whether the name is accepted. Wider than S3's rule: the Python SDK may send a bucket named `None` (C-60).
    private static func isBucketName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
    }
}
