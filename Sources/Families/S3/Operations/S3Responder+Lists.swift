import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

extension S3Responder {
    /// Answers ListObjectsV2 and the older ListObjects, whose `marker` acts as `start-after`.
    func listObjects(in bucket: String, _ query: SigV4Query, _ business: BusinessID) async throws -> Response {
        let isVersion2 = query["list-type"] == "2"
        let request = try ObjectListing.Request(query)
        let listing = try await ObjectListing(request) { from, after, limit in
            try await store.audio.objects(
                business: business, bucket: bucket, from: from, after: after, limit: limit)
        }
        let encode = { (key: String) in
            request.isURLEncoded ? PercentEncoding.encode(key, keepingSlashes: true) : key
        }
        var elements = [
            XMLElement("Name", bucket), XMLElement("Prefix", encode(request.prefix)),
            XMLElement("MaxKeys", String(request.limit)), XMLElement("IsTruncated", String(listing.next != nil)),
        ]
        if let delimiter = request.delimiter { elements.append(XMLElement("Delimiter", encode(delimiter))) }
        if request.isURLEncoded { elements.append(XMLElement("EncodingType", "url")) }
        if isVersion2 {
            elements.append(XMLElement("KeyCount", String(listing.objects.count + listing.commonPrefixes.count)))
            if let token = query["continuation-token"] { elements.append(XMLElement("ContinuationToken", token)) }
            if let start = query["start-after"] { elements.append(XMLElement("StartAfter", encode(start))) }
            if let next = listing.next {
                elements.append(XMLElement("NextContinuationToken", Data(next.utf8).base64EncodedString()))
            }
        } else {
            elements.append(XMLElement("Marker", encode(query["marker"] ?? "")))
            if let next = listing.next { elements.append(XMLElement("NextMarker", encode(next))) }
        }
        elements += listing.objects.map { object in
            XMLElement(
                "Contents",
                [
                    XMLElement("Key", encode(object.key)), XMLElement("LastModified", object.createdAt.s3Time),
                    XMLElement("ETag", object.quotedETag), XMLElement("Size", String(object.size)),
                    XMLElement("StorageClass", "STANDARD"),
                ]
            )
        }
        elements += listing.commonPrefixes.map { XMLElement("CommonPrefixes", [XMLElement("Prefix", encode($0))]) }
        return XMLElement("ListBucketResult", namespace: XMLElement.s3Namespace, elements).response(.ok)
    }
}

/// One page of a bucket's objects. Keys with a common prefix up to the delimiter become one entry.
struct ObjectListing: Sendable {
    struct Request: Sendable {
        let prefix: String
        let delimiter: String?
        let after: String
        /// Whether ``after`` is the end of the previous page, rather than a key that the client chose.
        let isContinued: Bool
        let limit: Int
        let isURLEncoded: Bool

        /// Longest delimiter, in bytes. Each key is searched for it.
        private static let longestDelimiter = 64

        init(_ query: SigV4Query) throws(S3Error) {
            prefix = query["prefix"] ?? ""
            delimiter = query["delimiter"].flatMap { $0.isEmpty ? nil : $0 }
            guard delimiter?.utf8.count ?? 0 <= Self.longestDelimiter else {
                throw .invalidArgument("The delimiter must have at most \(Self.longestDelimiter) bytes")
            }
            guard let limit = Int(query["max-keys"] ?? "1000"), limit >= 0 else {
                throw .invalidArgument("max-keys must be a number that is not negative")
            }
            self.limit = min(limit, 1000)
            isURLEncoded = query["encoding-type"] == "url"
            if let token = query["continuation-token"] {
                guard let data = Data(base64Encoded: token) else {
                    throw .invalidArgument("The continuation token provided is incorrect")
                }
                after = String(decoding: data, as: UTF8.self)
                isContinued = true
            } else {
                after = query["start-after"] ?? query["marker"] ?? ""
                isContinued = query["start-after"] == nil
            }
        }
    }

    private(set) var objects: [StoredObject] = []
    private(set) var commonPrefixes: [String] = []
    /// The last key or common prefix of this page, after which the next one begins; nil on the last page.
    private(set) var next: String?

    /// Builds a page.
    /// - Parameter fetch: Objects in key order: from a key, after another one, at most `limit` many.
    init(
        _ request: Request, fetch: (_ from: String, _ after: String, _ limit: Int) async throws -> [StoredObject]
    ) async throws {
        var after = request.after
        var last = request.after
        // Last common prefix on the page.
        var shown: String?
        // A previous page that ended with a common prefix has covered all keys below it.
        if request.isContinued, Self.begins(after, with: request.prefix), Self.commonPrefix(of: after, request) == after
        {
            shown = after
            after += Self.beyond
        }
        // Of the keys below a common prefix only the first is needed.
        var size = request.delimiter == nil ? request.limit + 1 : Self.firstPage
        while true {
            let room = request.limit - objects.count - commonPrefixes.count
            size = min(size, room + 1)
            let page = try await fetch(request.prefix, after, size)
            var skipTo: String?
            for object in page {
                guard Self.begins(object.key, with: request.prefix) else { return }
                let rolledUp = Self.commonPrefix(of: object.key, request)
                // A key may sort after `beyond` and still be below the prefix; such keys are rare.
                if let rolledUp, let shown, rolledUp.utf8.elementsEqual(shown.utf8) { continue }
                guard objects.count + commonPrefixes.count < request.limit else {
                    if request.limit > 0 { next = last }
                    return
                }
                if let rolledUp {
                    commonPrefixes.append(rolledUp)
                    last = rolledUp
                    shown = rolledUp
                    skipTo = rolledUp + Self.beyond
                    break
                }
                objects.append(object)
                last = object.key
            }
            if let skipTo {
                after = skipTo
                size = Self.firstPage
            } else if page.count < size {
                return
            } else {
                after = page.last?.key ?? after
                size *= 4
            }
        }
    }

    /// Keys in the first read, where most may be below one common prefix.
    private static let firstPage = 8

    /// Sorts after almost any continuation of a key.
    private static let beyond = "\u{10FFFF}"

    private static func commonPrefix(of key: String, _ request: Request) -> String? {
        guard let delimiter = request.delimiter else { return nil }
        let rest = key.utf8.dropFirst(request.prefix.utf8.count)
        let pattern = Array(delimiter.utf8)
        var position = rest.startIndex
        while position < rest.endIndex {
            if rest[position...].starts(with: pattern) {
                let end = rest.index(position, offsetBy: pattern.count)
                return String(key.utf8[..<end])
            }
            position = rest.index(after: position)
        }
        return nil
    }

    /// Compares bytes: keys that look alike may differ.
    private static func begins(_ key: String, with prefix: String) -> Bool { key.utf8.starts(with: prefix.utf8) }
}

extension Date {
    /// The date in the format of S3's XML.
    var s3Time: String { iso8601Milliseconds }
}
