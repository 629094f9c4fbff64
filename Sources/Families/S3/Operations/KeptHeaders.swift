import Foundation
import HTTPTypes
import ScribeHTTP

/// Header fields of an upload that S3 stores with the object and gives back.
enum KeptHeaders {
    /// Fields beside the metadata, in lower case.
    private static let names: Set = [
        "cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires",
    ]
    private static let metadataPrefix = "x-amz-meta-"
    /// Largest metadata of an object, in bytes, as on AWS.
    private static let metadataLimit = 2048
    /// Largest value of another field, in bytes: clients read no longer lines.
    private static let longestValue = 8192

    /// The kept fields, by lower-case name.
    /// - Throws: ``S3Error/metadataTooLarge``.
    static func of(_ headers: HTTPFields) throws(S3Error) -> [String: String] {
        try of(headers.lazy.map { ($0.name.canonicalName, $0.value) })
    }

    /// The kept fields among fields with lower-case names. `aws-chunked` frames the body, and is no encoding of it.
    /// - Throws: ``S3Error/metadataTooLarge``.
    static func of(_ fields: some Sequence<(String, String)>) throws(S3Error) -> [String: String] {
        var kept: [String: String] = [:]
        var size = 0
        for (name, value) in fields {
            if name.hasPrefix(metadataPrefix) {
                size += name.utf8.count + value.utf8.count
                guard size <= metadataLimit else { throw .metadataTooLarge }
            } else if !names.contains(name) {
                continue
            }
            guard value.utf8.count <= longestValue else { throw .metadataTooLarge }
            kept[name] = kept[name].map { "\($0),\(value)" } ?? value
        }
        if let encoding = kept["content-encoding"] {
            let words = encoding.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let others = words.filter { $0.lowercased() != "aws-chunked" && !$0.isEmpty }
            kept["content-encoding"] = others.isEmpty ? nil : others.joined(separator: ",")
        }
        return kept
    }
}
