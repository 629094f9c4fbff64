import Basics
package import Foundation
package import ObjectStorage
package import ScribeDomain

/// Multipart upload that was begun and not yet completed.
package struct MultipartUpload: Hashable, Sendable {
    package let id: String
    package let bucket: String
    package let key: String
    /// Header fields that the uploader wants in answers, by lower-case name.
    package let headers: [String: String]
    /// Algorithm of its checksum; nil if the client chose none, which means CRC64NVME.
    package let algorithm: ChecksumAlgorithm?
    /// Whether the object's checksum will be that of its parts' checksums.
    package let isComposite: Bool
    package let createdAt: Date

    package init(
        id: String, bucket: String, key: String, headers: [String: String] = [:], algorithm: ChecksumAlgorithm? = nil,
        isComposite: Bool = false, createdAt: Date
    ) {
        self.id = id
        self.bucket = bucket
        self.key = key
        self.headers = headers
        self.algorithm = algorithm
        self.isComposite = isComposite
        self.createdAt = createdAt
    }
}

/// Part of a multipart upload.
package struct MultipartPart: Hashable, Sendable {
    /// Part number, from 1 to 10,000.
    package let number: Int
    package let file: String
    /// Size in bytes.
    package let size: Int
    /// MD5 in lower-case hex: the part's ETag without its quotes.
    package let md5: String
    /// Checksum of the upload's algorithm, in base64.
    package let checksum: String
    package let createdAt: Date

    package init(number: Int, file: String, size: Int, md5: String, checksum: String = "", createdAt: Date) {
        self.number = number
        self.file = file
        self.size = size
        self.md5 = md5
        self.checksum = checksum
        self.createdAt = createdAt
    }
}

extension AudioStore {
    package func begin(_ upload: MultipartUpload, business: BusinessID) async throws {
        try await database.write(.folder(business, bucket: upload.bucket, key: upload.key)) { db in
            try db.insert(into: "multipart_uploads").values([
                "upload_id": upload.id, "business_id": business.rawValue, "bucket": upload.bucket,
                "key": upload.key, "headers": try StoredJSON.text(upload.headers),
                "checksum_algorithm": upload.algorithm?.rawValue, "is_composite": upload.isComposite,
                "created_at": upload.createdAt.milliseconds,
            ])
        }
    }

    /// Time after which an upload that was not completed expires, in seconds.
    private static let uploadLifetime: TimeInterval = 7 * 24 * 60 * 60

    /// Multipart uploads in progress, by key and then by id.
    /// - Parameter after: key and id of the last upload on the page before. An empty id skips all uploads of the key.
    package func multipartUploads(
        in bucket: String, business: BusinessID, prefix: String, after: (key: String, id: String), limit: Int
    ) async throws -> Page<MultipartUpload, (key: String, id: String)> {
        try await read { db in
            let rows = try db.rows(
                """
                SELECT * FROM multipart_uploads
                WHERE business_id = ?1 AND bucket = ?2 AND substr(key, 1, length(?3)) = ?3
                    AND (key > ?4 OR key = ?4 AND ?5 <> '' AND upload_id > ?5)
                ORDER BY key, upload_id LIMIT ?6
                """,
                [business.rawValue, bucket, prefix, after.key, after.id, limit + 1]
            )
            return try Page(rows, limit: limit, item: MultipartUpload.init(row:)) { ($0["key"], $0["upload_id"]) }
        }
    }

    /// Deletes multipart uploads that were not completed within a week.
    /// - Returns: the files of their parts.
    package func expireMultipartUploads(at now: Date) async throws -> [String] {
        try await database.write(.none) { db in
            let limit = now.addingTimeInterval(-Self.uploadLifetime).milliseconds
            let files = try db.rows(
                """
                SELECT file FROM multipart_parts JOIN multipart_uploads ON multipart_uploads.id = upload
                WHERE multipart_uploads.created_at < ?
                """, [limit]
            ).map { $0["file"] as String }
            try db.run("DELETE FROM multipart_uploads WHERE created_at < ?", [limit])
            return files
        }
    }

    /// Multipart upload with its parts by number; nil if no upload has this id, bucket, key and business.
    package func multipartUpload(
        _ id: String, bucket: String, key: String, business: BusinessID
    ) async throws -> (upload: MultipartUpload, parts: [MultipartPart])? {
        try await read { db in
            try Self.uploadRow(id, bucket: bucket, key: key, business: business, in: db).map { row in
                (try MultipartUpload(row: row), try Self.parts(ofRow: row["id"], in: db))
            }
        }
    }

    /// Stores a part of a multipart upload, and replaces the part of the same number.
    /// - Throws: ``ScribeError/storageQuotaExceeded``.
    /// - Returns: the replaced files, at most one; nil if there is no such upload.
    package func putPart(
        _ part: MultipartPart, of id: String, bucket: String, key: String, business: BusinessID
    ) async throws -> [String]? {
        try await database.write(.folder(business, bucket: bucket, key: key)) { db in
            guard let row = try Self.uploadRow(id, bucket: bucket, key: key, business: business, in: db) else {
                return nil
            }
            let upload: Int64 = row["id"]
            let replaced = try db.row(
                "SELECT file, size FROM multipart_parts WHERE upload = ? AND number = ?", [upload, part.number]
            )
            try self.requireRoom(for: part.size - (replaced?["size"] ?? 0), of: business, in: db)
            try db.insert(into: "multipart_parts", onConflict: .update(key: ["upload", "number"])).values([
                "upload": upload, "number": part.number, "file": part.file, "size": part.size, "md5": part.md5,
                "checksum": part.checksum, "created_at": part.createdAt.milliseconds,
            ])
            return [replaced?["file"]].compactMap(\.self)
        }
    }

    /// Completes a multipart upload: stores the object of the joined parts and deletes the upload, in one SQL
    /// transaction.
    /// - Returns: nil if the upload is gone: aborted, or completed by a parallel request.
    /// - Parameters: as in ``put(_:business:isChunk:refusing:replacing:)``.
    package func complete(
        _ id: String, as object: StoredObject, business: BusinessID, refusing fixtures: Set<String> = [],
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void = { _ in }
    ) async throws -> (replacedFiles: [String], partFiles: [String])? {
        try await database.write(.folder(business, bucket: object.bucket, key: object.key)) { db, changes in
            let row = try Self.uploadRow(id, bucket: object.bucket, key: object.key, business: business, in: db)
            guard let row else { return nil }
            let parts = try Self.parts(ofRow: row["id"], in: db)
            let place = try self.place(
                for: object, business: business, refusing: fixtures, freeing: parts.total(\.size),
                replacing: permitReplacing, in: db)
            try db.run("DELETE FROM multipart_uploads WHERE id = ?", [row["id"] as Int64])
            let replaced = try self.put(object, at: place, business: business, in: db, &changes)
            return (replaced, parts.map(\.file))
        }
    }

    /// Aborts a multipart upload.
    /// - Returns: the files of its parts; nil if there is no such upload.
    package func abort(_ id: String, bucket: String, key: String, business: BusinessID) async throws -> [String]? {
        try await database.write(.folder(business, bucket: bucket, key: key)) { db in
            guard let row = try Self.uploadRow(id, bucket: bucket, key: key, business: business, in: db) else {
                return nil
            }
            let files = try Self.parts(ofRow: row["id"], in: db).map(\.file)
            try db.run("DELETE FROM multipart_uploads WHERE id = ?", [row["id"] as Int64])
            return files
        }
    }

    private static func uploadRow(
        _ id: String, bucket: String, key: String, business: BusinessID, in db: any StoreSession
    ) throws -> StoredRow? {
        try db.row(
            """
            SELECT * FROM multipart_uploads
            WHERE upload_id = ? AND business_id = ? AND bucket = ? AND key = ?
            """,
            [id, business.rawValue, bucket, key]
        )
    }

    private static func parts(ofRow upload: Int64, in db: any StoreSession) throws -> [MultipartPart] {
        try db.rows("SELECT * FROM multipart_parts WHERE upload = ? ORDER BY number", [upload]).map { row in
            MultipartPart(
                number: row["number"], file: row["file"], size: row["size"], md5: row["md5"],
                checksum: row["checksum"], createdAt: Date(milliseconds: row["created_at"])
            )
        }
    }
}

extension MultipartUpload {
    fileprivate init(row: StoredRow) throws {
        self.init(
            id: row["upload_id"], bucket: row["bucket"], key: row["key"],
            headers: try StoredJSON.value(row["headers"]),
            algorithm: try (row["checksum_algorithm"] as String?).map { _ in try row.word("checksum_algorithm") },
            isComposite: row["is_composite"], createdAt: Date(milliseconds: row["created_at"])
        )
    }
}
