import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

extension S3Responder {
    /// The buckets that the tenant has put anything into.
    func listBuckets(_ business: BusinessID) async throws -> Response {
        let buckets = try await queries.objects.buckets(business: business).map { bucket in
            XMLElement(
                "Bucket", [XMLElement("Name", bucket.name), XMLElement("CreationDate", bucket.createdAt.s3Time)]
            )
        }
        return XMLElement(
            "ListAllMyBucketsResult", namespace: XMLElement.s3Namespace,
            [
                XMLElement(
                    "Owner", [XMLElement("ID", business.rawValue), XMLElement("DisplayName", business.rawValue)]),
                XMLElement("Buckets", buckets),
            ]
        ).response(.ok)
    }

    /// ListObjectsV2, and its older sibling, whose `marker` is a `start-after`.
    func listObjects(in bucket: String, _ query: SigV4Query, _ business: BusinessID) async throws -> Response {
        let isVersion2 = query["list-type"] == "2"
        let request = try ObjectListing.Request(query)
        let listing = try await ObjectListing(request) { from, after, limit in
            try await queries.objects.objects(
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

/// One page of a bucket's objects, keys with a common prefix up to the delimiter rolled up into one entry.
struct ObjectListing: Sendable {
    struct Request: Sendable {
        let prefix: String
        let delimiter: String?
        let after: String
        /// Whether ``after`` is where the page before ended, and not a key that somebody chose.
        let isContinued: Bool
        let limit: Int
        let isURLEncoded: Bool

        /// In bytes; it is looked for everywhere in each key.
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
    /// Where the next page begins: after this key or common prefix; nil when this is the last page.
    private(set) var next: String?

    /// - Parameter fetch: objects in order from a key on, after another one, at most so many.
    init(
        _ request: Request, fetch: (_ from: String, _ after: String, _ limit: Int) async throws -> [StoredObject]
    ) async throws {
        var after = request.after
        var last = request.after
        // The common prefix that was shown last.
        var shown: String?
        // A page that ended with one has shown all keys below it.
        if request.isContinued, Self.begins(after, with: request.prefix), Self.commonPrefix(of: after, request) == after
        {
            shown = after
            after += Self.beyond
        }
        // Of the keys below a common prefix only the first one matters.
        var size = request.delimiter == nil ? request.limit + 1 : Self.firstPage
        while true {
            let room = request.limit - objects.count - commonPrefixes.count
            size = min(size, room + 1)
            let page = try await fetch(request.prefix, after, size)
            var skipTo: String?
            for object in page {
                guard Self.begins(object.key, with: request.prefix) else { return }
                let rolledUp = Self.commonPrefix(of: object.key, request)
                // Few keys go on with what is beyond.
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

    /// How many keys are looked at first where most may be below one common prefix.
    private static let firstPage = 8

    /// Greater than whatever keys but the oddest go on with.
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

    /// By bytes: letters that look alike are different keys.
    private static func begins(_ key: String, with prefix: String) -> Bool { key.utf8.starts(with: prefix.utf8) }
}

extension Date {
    /// As S3's XML spells it.
    var s3Time: String { formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z" }
}
