package import Foundation
package import ScribeDomain
package import ScribeStore

/// Reads objects, buckets and unfinished multipart uploads. The bytes are in ``ObjectFiles``.
package struct ObjectQueries: Sendable {
    let store: Store

    /// The object with a key, or nil.
    package func object(business: BusinessID, bucket: String, key: String) async throws -> StoredObject? {
        try await store.object(business: business, bucket: bucket, key: key)
    }

    /// Up to `limit` objects in the order of their keys' bytes, with keys greater than `after` and not less than
    /// `prefix`.
    package func objects(
        business: BusinessID, bucket: String, from prefix: String, after: String, limit: Int
    ) async throws -> [StoredObject] {
        try await store.objects(business: business, bucket: bucket, from: prefix, after: after, limit: limit)
    }

    /// The objects with these keys, in the order of the keys, which must be that of their bytes; nil if one is missing.
    ///
    /// A query reads a thousand keys, of which hardly any is between these.
    package func objects(business: BusinessID, bucket: String, keys: [String]) async throws -> [StoredObject]? {
        var found: [StoredObject] = []
        var (missing, after) = (keys[...], "")
        while let next = missing.first {
            let page = try await objects(business: business, bucket: bucket, from: next, after: after, limit: 1000)
            for object in page where object.key == missing.first {
                found.append(object)
                missing.removeFirst()
            }
            guard let last = page.last?.key, missing.first.map({ last < $0 }) ?? true else { return nil }
            after = last
        }
        return found
    }

    /// Objects of all businesses in the order of their ids, for operators.
    /// - Parameters:
    ///   - business: nil for all.
    ///   - transaction: keeps objects whose key has this component.
    ///   - id: keeps objects with greater ids.
    package func all(
        of business: BusinessID?, holding transaction: String?, after id: Int64?, limit: Int
    ) async throws -> [OwnedObject] {
        try await store.objects(of: business, holding: transaction, after: id, limit: limit)
    }

    /// The object with an id of ``all(of:holding:after:limit:)``; nil if there is none.
    package func object(id: Int64) async throws -> StoredObject? { try await store.object(id: id) }

    /// The buckets of a business, each with the time of its first object.
    package func buckets(business: BusinessID) async throws -> [(name: String, createdAt: Date)] {
        try await store.buckets(business: business)
    }

    /// Whether any business has an object in a bucket.
    package func hasBucket(_ bucket: String) async throws -> Bool { try await store.hasBucket(bucket) }

    /// An unfinished upload with its parts by number, or nil.
    package func multipartUpload(
        _ id: String, bucket: String, key: String, business: BusinessID
    ) async throws -> (upload: MultipartUpload, parts: [MultipartPart])? {
        try await store.multipartUpload(id, bucket: bucket, key: key, business: business)
    }

    /// Unfinished uploads, by key and then by id.
    /// - Parameter after: The end of the page before. An empty id means that all uploads of the key are on that page.
    package func multipartUploads(
        in bucket: String, business: BusinessID, prefix: String, after: (key: String, id: String), limit: Int
    ) async throws -> Page<MultipartUpload, (key: String, id: String)> {
        try await store.multipartUploads(in: bucket, business: business, prefix: prefix, after: after, limit: limit)
    }
}
