import Basics
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

extension S3Responder {
    /// Least size of a part other than the last, in bytes.
    static let partMinimum = 5 << 20
    /// Longest body of CompleteMultipartUpload, in bytes.
    private static let completionLimit = 1 << 20

    func createMultipartUpload(
        _ request: Request, _ address: S3ObjectAddress, _ business: BusinessID
    ) async throws -> Response {
        let upload = MultipartUpload(
            id: identifiers.uuid(.upload), bucket: address.bucket, key: address.key,
            contentType: request.headers[.contentType], disposition: request.headers[.contentDisposition],
            metadata: try Self.metadata(of: request.headers), createdAt: clock.now
        )
        try await store.begin(upload, business: business)
        return XMLElement(
            "InitiateMultipartUploadResult", namespace: XMLElement.s3Namespace,
            [XMLElement("Bucket", address.bucket), XMLElement("Key", address.key), XMLElement("UploadId", upload.id)]
        ).response(.ok)
    }

    func uploadPart(
        _ request: Request, _ address: S3ObjectAddress, _ id: String, _ number: Int, _ caller: VerifiedS3Request
    ) async throws -> Response {
        try await receive(request, caller) { file, received in
            let part = MultipartPart(
                number: number, file: file.name, size: received.size, md5: received.md5, createdAt: clock.now
            )
            guard
                try await uploads.keep(
                    &file, as: part, of: id, bucket: address.bucket, key: address.key, for: caller.principal)
            else { throw S3Error.noSuchUpload }
            var headers = received.checksums
            headers[.eTag] = "\"\(part.md5)\""
            return Response(status: .ok, headers: headers)
        }
    }

    func completeMultipartUpload(
        _ request: Request, _ address: S3ObjectAddress, _ id: String, _ caller: VerifiedS3Request,
        _ context: ScribeContext
    ) async throws -> Response {
        let business = caller.principal.business
        let body: LargeInput<ByteBuffer>
        do {
            body = try await request.collectedBody(upTo: Self.completionLimit, in: context)
        } catch HTTPProblem.bodyTooLarge {
            throw S3Error.malformedXML
        }
        let list = try await body.read { body in
            if case .signed(let sha256) = caller.payload,
                Array(SHA256.hash(data: Data(body.readableBytesView))) != sha256
            {
                throw S3Error.contentSHA256Mismatch
            }
            return try PartList(String(buffer: body))
        }
        let preconditions = S3Preconditions(request.headers)
        while let found = try await store.multipartUpload(
            id, bucket: address.bucket, key: address.key, business: business)
        {
            let (upload, parts) = (found.upload, try list.select(from: found.parts))
            let object = try await uploads.complete(
                id, joining: parts,
                as: { file in
                    StoredObject(
                        bucket: address.bucket, key: address.key, file: file, size: parts.total(\.size),
                        eTag: list.eTag, contentType: upload.contentType, disposition: upload.disposition,
                        metadata: upload.metadata, createdAt: clock.now)
                }, for: caller.principal, replacing: preconditions.permitReplacing)
            if let object { return completion(of: object, context) }
            // The upload is gone, or a part was replaced: read it again. A lost file is an error.
            let now = try await store.multipartUpload(
                id, bucket: address.bucket, key: address.key, business: business)
            if let now, try list.select(from: now.parts).map(\.file) == parts.map(\.file) {
                throw S3Error.internalError
            }
        }
        // A client may repeat the request without waiting.
        return try await completedBefore(list, address, business, context)
    }

    /// Answers a repeated completion: the upload is gone, and the object with the expected ETag exists.
    private func completedBefore(
        _ list: PartList, _ address: S3ObjectAddress, _ business: BusinessID, _ context: ScribeContext
    ) async throws -> Response {
        let object = try await store.object(business: business, bucket: address.bucket, key: address.key)
        guard let object, object.eTag == list.eTag else { throw S3Error.noSuchUpload }
        return completion(of: object, context)
    }

    private func completion(of object: StoredObject, _ context: ScribeContext) -> Response {
        XMLElement(
            "CompleteMultipartUploadResult", namespace: XMLElement.s3Namespace,
            [
                XMLElement("Location", "\(context.linkPath)/\(object.bucket)/\(object.key)"),
                XMLElement("Bucket", object.bucket), XMLElement("Key", object.key),
                XMLElement("ETag", object.quotedETag),
            ]
        ).response(.ok)
    }

    func abortMultipartUpload(
        _ address: S3ObjectAddress, _ id: String, _ business: BusinessID
    ) async throws -> Response {
        guard try await uploads.abort(id, bucket: address.bucket, key: address.key, of: business) else {
            throw S3Error.noSuchUpload
        }
        return Response(status: .noContent)
    }

    func listMultipartUploads(
        in bucket: String, _ query: SigV4Query, _ business: BusinessID
    ) async throws -> Response {
        let limit = min(query["max-uploads"].flatMap(Int.init) ?? 1000, 1000)
        guard limit >= 0 else { throw S3Error.invalidArgument("max-uploads") }
        guard query["delimiter"] ?? "" == "" else {
            throw S3Error.notImplemented("A delimiter is not implemented for multipart uploads.")
        }
        let (key, id, prefix) = (query["key-marker"] ?? "", query["upload-id-marker"] ?? "", query["prefix"] ?? "")
        let found = try await store.multipartUploads(
            in: bucket, business: business, prefix: prefix, after: (key, id), limit: limit)
        let isURLEncoded = query["encoding-type"] == "url"
        let encode = { (key: String) in isURLEncoded ? PercentEncoding.encode(key, keepingSlashes: true) : key }
        var elements = [
            XMLElement("Bucket", bucket), XMLElement("KeyMarker", encode(key)), XMLElement("UploadIdMarker", id),
            XMLElement("Prefix", encode(prefix)), XMLElement("MaxUploads", String(limit)),
            XMLElement("IsTruncated", String(found.next != nil)),
        ]
        if isURLEncoded { elements.append(XMLElement("EncodingType", "url")) }
        if let next = found.next {
            elements += [
                XMLElement("NextKeyMarker", encode(next.key)), XMLElement("NextUploadIdMarker", next.id),
            ]
        }
        elements += found.items.map { upload in
            XMLElement(
                "Upload",
                [
                    XMLElement("Key", encode(upload.key)), XMLElement("UploadId", upload.id),
                    XMLElement("StorageClass", "STANDARD"), XMLElement("Initiated", upload.createdAt.s3Time),
                ])
        }
        return XMLElement("ListMultipartUploadsResult", namespace: XMLElement.s3Namespace, elements).response(.ok)
    }

    func listParts(
        _ address: S3ObjectAddress, _ id: String, _ query: SigV4Query, _ business: BusinessID
    ) async throws -> Response {
        guard
            let found = try await store.multipartUpload(
                id, bucket: address.bucket, key: address.key, business: business
            )
        else { throw S3Error.noSuchUpload }
        let limit = min(query["max-parts"].flatMap(Int.init) ?? 1000, 1000)
        let marker = query["part-number-marker"].flatMap(Int.init) ?? 0
        guard limit >= 0, marker >= 0 else { throw S3Error.invalidArgument("max-parts or part-number-marker") }
        let rest = found.parts.filter { $0.number > marker }
        let shown = rest.prefix(limit)
        let head = [
            XMLElement("Bucket", address.bucket), XMLElement("Key", address.key), XMLElement("UploadId", id),
            XMLElement("PartNumberMarker", String(marker)),
            XMLElement("NextPartNumberMarker", String(shown.last?.number ?? marker)),
            XMLElement("MaxParts", String(limit)), XMLElement("IsTruncated", String(rest.count > shown.count)),
        ]
        let parts = shown.map { part in
            XMLElement(
                "Part",
                [
                    XMLElement("PartNumber", String(part.number)),
                    XMLElement("LastModified", part.createdAt.s3Time), XMLElement("ETag", "\"\(part.md5)\""),
                    XMLElement("Size", String(part.size)),
                ]
            )
        }
        return XMLElement("ListPartsResult", namespace: XMLElement.s3Namespace, head + parts).response(.ok)
    }
}

/// Parses the parts that CompleteMultipartUpload names, in order.
struct PartList: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let number: Int
        /// ETag without quotes.
        let eTag: String
    }

    let entries: [Entry]

    /// Parses `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"…"</ETag></Part>…`.
    ///
    /// Other elements, such as checksums, are ignored.
    /// - Throws: ``S3Error/malformedXML``, ``S3Error/invalidPartOrder``.
    init(_ xml: String) throws(S3Error) {
        guard xml.contains("<CompleteMultipartUpload") else { throw .malformedXML }
        var entries: [Entry] = []
        for piece in xml.components(separatedBy: "<Part>").dropFirst() {
            guard let number = Self.text(of: "PartNumber", in: piece).flatMap(Int.init),
                let eTag = Self.text(of: "ETag", in: piece)
            else { throw .malformedXML }
            let plain = eTag.replacingOccurrences(of: "&quot;", with: "").replacingOccurrences(of: "&#34;", with: "")
                .trimmingCharacters(in: ["\""])
            entries.append(Entry(number: number, eTag: plain))
        }
        guard !entries.isEmpty else { throw .malformedXML }
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.number < $1.number }) else { throw .invalidPartOrder }
        self.entries = entries
    }

    /// ETag of the joined object, without quotes.
    var eTag: String {
        let digest = Insecure.MD5.hash(data: Data(entries.flatMap { Hex.decode($0.eTag) ?? [] }))
        return "\(Hex.encode(digest))-\(entries.count)"
    }

    /// Selects the stored parts that the list names.
    /// - Throws: ``S3Error/invalidPart``, ``S3Error/entityTooSmall``, ``S3Error/entityTooLarge``.
    func select(from parts: [MultipartPart]) throws(S3Error) -> [MultipartPart] {
        let byNumber = Dictionary(uniqueKeysWithValues: parts.map { ($0.number, $0) })
        var selected: [MultipartPart] = []
        for entry in entries {
            guard let part = byNumber[entry.number], part.md5 == entry.eTag.lowercased() else { throw .invalidPart }
            selected.append(part)
        }
        guard selected.dropLast().allSatisfy({ $0.size >= S3Responder.partMinimum }) else { throw .entityTooSmall }
        guard selected.total(\.size) <= S3Responder.objectLimit else { throw .entityTooLarge }
        return selected
    }

    private static func text(of element: String, in xml: String) -> String? {
        guard let start = xml.range(of: "<\(element)>"),
            let end = xml.range(of: "</\(element)>", range: start.upperBound..<xml.endIndex)
        else { return nil }
        return xml[start.upperBound..<end.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
