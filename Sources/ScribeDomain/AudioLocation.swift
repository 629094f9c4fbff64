import Foundation

/// Where the chunks of a transaction are: a bucket and a folder in it.
///
/// Parsed from `s3_url` or `batch_s3_url`, never computed: the date in the folder is the device's (C-16).
package struct AudioLocation: Hashable, Sendable {
    /// What clients write that do not know the bucket.
    private static let unknownBucket = "undefined"

    package let bucket: String
    /// The key prefix without a slash at either end, for example `260510/i-1234`.
    package let folder: String

    package init(bucket: String, folder: String) {
        self.bucket = bucket
        self.folder = folder
    }

    /// Reads `s3://bucket/folder`, `https://bucket.s3.region.amazonaws.com/folder/` and `https://host/bucket/folder`
    /// (C-14). Returns nil for anything else.
    package init?(url: String) {
        // By bytes: a combining character after a slash would hide it.
        let words = url.split(ascii: "/", omittingEmptySubsequences: false).map(String.init)
        guard url.isPlain, words.count >= 3, case let scheme = words[0].lowercased(), words[1].isEmpty else {
            return nil
        }
        let parts = words.dropFirst(2).filter { !$0.isEmpty }
        if scheme == "s3:", words[2] == "", !parts.isEmpty {
            // The bucket's name was empty: the folder alone tells.
            self.init(bucket: Self.unknownBucket, folder: parts.joined(separator: "/"))
            return
        }
        guard let authority = parts.first, ["s3:", "https:", "http:"].contains(scheme) else { return nil }
        if scheme == "s3:" {
            self.init(bucket: authority, folder: parts.dropFirst().joined(separator: "/"))
        } else if let bucket = Self.bucket(ofVirtualHost: authority) {
            self.init(bucket: bucket, folder: parts.dropFirst().joined(separator: "/"))
        } else if parts.count >= 2 {
            self.init(bucket: parts[1], folder: parts.dropFirst(2).joined(separator: "/"))
        } else {
            return nil
        }
    }

    package var url: String { "s3://\(bucket)/\(folder)" }

    /// Whether the client did not know the bucket, and it is the folder that tells: the Python SDK names a bucket `None`,
    /// and the Java SDK `null`, when it cannot tell it from the address that it uploaded to (C-60).
    package var isFolderOnly: Bool { ["none", "null", Self.unknownBucket].contains(bucket.lowercased()) }

    /// The folder of an object and the name in it. By bytes, as above.
    package static func split(key: String) -> (folder: String, name: String) {
        guard let slash = key.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", key) }
        return (String(key[..<slash]), String(key[key.utf8.index(after: slash)...]))
    }

    /// The name of a file of this transaction, nil for a key that is elsewhere.
    package func name(ofKey key: String) -> String? {
        let prefix = self.key(ofFile: "").utf8
        return key.utf8.starts(with: prefix) ? String(key.utf8.dropFirst(prefix.count)) : nil
    }

    /// The key of a file of this transaction.
    package func key(ofFile name: String) -> String { folder.isEmpty ? name : "\(folder)/\(name)" }

    /// The bucket that a virtual-host style `Host` names, or nil when the host is no S3 host.
    ///
    /// Both spellings that AWS SDKs use are known, `bucket.s3.region.amazonaws.com` and `bucket.s3-region.…`, and
    /// for a local name `bucket.s3.localhost`.
    package static func bucket(ofVirtualHost host: String) -> String? {
        let name = host.split(ascii: ":", maxSplits: 1).first?.lowercased() ?? ""
        guard name.hasSuffix(".amazonaws.com") || name.hasSuffix(".localhost") else { return nil }
        let labels = name.split(ascii: ".")
        guard let service = labels.firstIndex(where: { $0 == "s3" || $0.hasPrefix("s3-") }), service > 0 else {
            return nil
        }
        return labels[..<service].joined(separator: ".")
    }
}
