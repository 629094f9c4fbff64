import Basics
import Foundation

/// Location of a transaction's chunks: an S3 bucket and a folder in it.
///
/// The location is parsed from `s3_url` or `batch_s3_url`, never computed: the folder's date is the device's (C-16).
package struct AudioLocation: Hashable, Sendable {
    /// Bucket name that clients write if they do not know the bucket.
    private static let unknownBucket = "undefined"

    package let bucket: String
    /// The key prefix without a slash at either end, for example `260510/i-1234`.
    package let folder: String

    package init(bucket: String, folder: String) {
        self.bucket = bucket
        self.folder = folder
    }

    /// Parses `s3://bucket/folder`, `https://bucket.s3.region.amazonaws.com/folder/` and `https://host/bucket/folder`.
    /// C-14 lists the forms. Nil for any other text.
    package init?(url: String) {
        // Split by bytes: a combining character after a slash would hide the slash.
        let words = url.split(ascii: "/", omittingEmptySubsequences: false).map(String.init)
        guard url.isPlain, words.count >= 3, case let scheme = words[0].lowercased(), words[1].isEmpty else {
            return nil
        }
        let parts = words.dropFirst(2).filter { !$0.isEmpty }
        if scheme == "s3:", words[2] == "", !parts.isEmpty {
            // The bucket's name was empty: only the folder identifies the audio.
            self.init(bucket: Self.unknownBucket, folder: parts.joined(separator: "/"))
            return
        }
        guard let authority = parts.first, ["s3:", "https:", "http:"].contains(scheme) else { return nil }
        var path = parts.dropFirst()
        if scheme != "s3:" {
            // An upload address below the prefix of a namespace; the objects' keys do not have the prefix.
            if path.first == "ns", let name = path.dropFirst().first, NamespaceName(Substring(name)) != nil {
                path = path.dropFirst(2)
            }
            if Self.bucket(ofVirtualHost: authority) == nil, path.isEmpty { return nil }
        }
        let virtualBucket = scheme == "s3:" ? authority : Self.bucket(ofVirtualHost: authority)
        self.init(
            bucket: virtualBucket ?? path.removeFirst(), folder: path.joined(separator: "/"))
    }

    package var url: String { "s3://\(bucket)/\(folder)" }

    /// Whether only the folder identifies the audio, because the client did not know the bucket (C-60).
    /// The Python SDK writes the bucket `None` and the Java SDK `null` if the upload address does not name the bucket.
    package var isFolderOnly: Bool { ["none", "null", Self.unknownBucket].contains(bucket.lowercased()) }

    /// Splits an object key at its last slash into folder and file name.
    /// The split is by bytes: a combining character would hide the slash. The folder
    /// is empty for a key without a slash.
    package static func split(key: String) -> (folder: String, name: String) {
        guard let slash = key.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", key) }
        return (String(key[..<slash]), String(key[key.utf8.index(after: slash)...]))
    }

    /// File name of an object key within this transaction's folder; nil for a key outside the folder.
    package func name(ofKey key: String) -> String? {
        let prefix = self.key(ofFile: "").utf8
        return key.utf8.starts(with: prefix) ? String(key.utf8.dropFirst(prefix.count)) : nil
    }

    /// Object key of a file of this transaction: folder, slash, file name.
    package func key(ofFile name: String) -> String { folder.isEmpty ? name : "\(folder)/\(name)" }

    /// Bucket named by a virtual-host style `Host` header; nil for a host that is no S3 host.
    ///
    /// Accepts both spellings of the AWS SDKs, `bucket.s3.region.amazonaws.com` and `bucket.s3-region.…`,
    /// and the local `bucket.s3.localhost`.
    package static func bucket(ofVirtualHost host: String) -> String? {
        // Each request asks, and most hosts have no `s`.
        guard host.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "s") }) else { return nil }
        let name = host.split(ascii: ":", maxSplits: 1).first?.lowercased() ?? ""
        guard name.hasSuffix(".amazonaws.com") || name.hasSuffix(".localhost") else { return nil }
        let labels = name.split(ascii: ".")
        guard let service = labels.firstIndex(where: { $0 == "s3" || $0.hasPrefix("s3-") }), service > 0 else {
            return nil
        }
        return labels[..<service].joined(separator: ".")
    }
}
