import Basics
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
        let algorithm = try Self.algorithm(in: request.headers)
        let upload = MultipartUpload(
            id: identifiers.uuid(.upload), bucket: address.bucket, key: address.key,
            headers: try KeptHeaders.of(request.headers), algorithm: algorithm,
            isComposite: try Self.isComposite(request.headers.value(of: .amzChecksumType), algorithm),
            createdAt: clock.now
        )
        try await store.audio.begin(upload, business: business)
        var response = XMLElement(
            "InitiateMultipartUploadResult", namespace: XMLElement.s3Namespace,
            [XMLElement("Bucket", address.bucket), XMLElement("Key", address.key), XMLElement("UploadId", upload.id)]
        ).response(.ok)
        response.headers[.amzChecksumAlgorithm] = upload.checksumAlgorithm.rawValue.uppercased()
        response.headers[.amzChecksumType] = upload.checksumType
        return response
    }

    /// Whether the object's checksum will be composed of its parts' checksums (AWS: checksum types of multipart
    /// uploads).
    /// - Throws: ``S3Error/invalidRequest(_:)`` for a pair that AWS forbids.
    private static func isComposite(_ type: String?, _ algorithm: ChecksumAlgorithm?) throws(S3Error) -> Bool {
        switch (type?.uppercased(), algorithm) {
        case (nil, nil), ("FULL_OBJECT", nil): return false
        case (nil, let algorithm?): return algorithm != .crc64nvme
        case ("FULL_OBJECT", let algorithm?) where algorithm.isCyclic: return false
        case ("COMPOSITE", let algorithm?) where algorithm != .crc64nvme: return true
        case ("FULL_OBJECT", _), ("COMPOSITE", _):
            throw .invalidRequest(
                "The \(type ?? "") checksum type cannot be used with the "
                    + "\((algorithm ?? usualAlgorithm).rawValue) checksum algorithm.")
        default: throw .invalidRequest("Value for x-amz-checksum-type header is invalid.")
        }
    }

    /// The multipart upload that a part is sent to.
    /// - Throws: ``S3Error/noSuchUpload``.
    func upload(
        _ id: String, at address: S3ObjectAddress, _ caller: VerifiedS3Request
    ) async throws -> MultipartUpload {
        let found = try await store.audio.multipartUpload(
            id, bucket: address.bucket, key: address.key, business: caller.principal.business)
        guard let found else { throw S3Error.noSuchUpload }
        return found.upload
    }

    func uploadPart(
        _ request: Request, _ address: S3ObjectAddress, _ id: String, _ number: Int, _ caller: VerifiedS3Request
    ) async throws -> Response {
        let declared = try DeclaredBody(request.headers, caller.payload)
        let upload = try await upload(id, at: address, caller)
        if let chosen = upload.algorithm, let sent = declared.checksum?.algorithm, sent != chosen {
            throw S3Error.invalidRequest(
                "Checksum Type mismatch occurred, expected checksum Type: \(chosen.rawValue), actual checksum Type: "
                    + sent.rawValue)
        }
        return try await receive(request, caller, declared: declared, algorithms: [upload.checksumAlgorithm]) {
            file, received in
            let part = MultipartPart(
                number: number, file: file.name, size: received.size, md5: received.md5,
                checksum: received.checksum(upload.checksumAlgorithm), createdAt: clock.now
            )
            guard
                try await uploads.keep(
                    &file, as: part, of: id, bucket: address.bucket, key: address.key, for: caller.principal)
            else { throw S3Error.noSuchUpload }
            let checksum =
                declared.checksum == nil
                ? ObjectChecksum(upload.checksumAlgorithm, text: part.checksum) : received.checksum
            return Response(
                status: .ok, headers: [.eTag: "\"\(part.md5)\"", checksum.algorithm.headerName: checksum.text])
        }
    }

    func completeMultipartUpload(
        _ request: Request, _ address: S3ObjectAddress, _ id: String, _ caller: VerifiedS3Request,
        _ context: ScribeContext
    ) async throws -> Response {
        let business = caller.principal.business
        let list = try await readDocument(
            "CompleteMultipartUpload", of: request, caller, upTo: Self.completionLimit, isOfObject: true, context
        ) { try PartList($0) }
        let wanted = try WantedObject(request.headers)
        let preconditions = S3Preconditions(request.headers)
        while let found = try await store.audio.multipartUpload(
            id, bucket: address.bucket, key: address.key, business: business)
        {
            let (upload, parts) = (found.upload, try list.select(from: found.parts, of: found.upload))
            let algorithm = try wanted.algorithm(of: upload)
            try wanted.check(size: parts.total(\.size))
            let object = try await uploads.complete(
                id, joining: parts, checksums: upload.isComposite ? [] : [algorithm],
                as: { file, written in
                    let checksum = ObjectChecksum(algorithm, of: upload, parts, written)
                    try wanted.check(checksum)
                    return StoredObject(
                        bucket: address.bucket, key: address.key, file: file, size: written.size, eTag: list.eTag,
                        headers: upload.headers, checksum: checksum, parts: parts.map(\.size), createdAt: clock.now)
                }, for: caller.principal, replacing: preconditions.permitReplacing)
            if let object { return completion(of: object, request, context) }
            // The upload is gone, or a part was replaced: read it again. A lost file is an error.
            let now = try await store.audio.multipartUpload(
                id, bucket: address.bucket, key: address.key, business: business)
            if let now, try list.select(from: now.parts, of: now.upload).map(\.file) == parts.map(\.file) {
                throw S3Error.internalError
            }
        }
        // A client may repeat the request without waiting.
        let object = try await store.audio.object(business: business, bucket: address.bucket, key: address.key)
        guard let object, object.eTag == list.eTag else { throw S3Error.noSuchUpload }
        try wanted.check(size: object.size)
        if let checksum = object.checksum { try wanted.check(checksum) }
        return completion(of: object, request, context)
    }

    private func completion(of object: StoredObject, _ request: Request, _ context: ScribeContext) -> Response {
        var elements = [
            XMLElement("Location", location(of: object, request, context)), XMLElement("Bucket", object.bucket),
            XMLElement("Key", object.key), XMLElement("ETag", object.quotedETag),
        ]
        if let checksum = object.checksum {
            elements += [
                XMLElement(checksum.elementName, checksum.text), XMLElement("ChecksumType", checksum.type),
            ]
        }
        return XMLElement("CompleteMultipartUploadResult", namespace: XMLElement.s3Namespace, elements).response(.ok)
    }

    /// URL of an object, as its uploader reached the server.
    func location(of object: StoredObject, _ request: Request, _ context: ScribeContext) -> String {
        let isVirtualHost = AudioLocation.bucket(ofVirtualHost: request.authority) != nil
        let bucket = isVirtualHost ? "" : "/\(object.bucket)"
        return "\(origin.base(of: request, context))\(bucket)/"
            + PercentEncoding.encode(object.key, keepingSlashes: true)
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
        let found = try await store.audio.multipartUploads(
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
            let found = try await store.audio.multipartUpload(
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
