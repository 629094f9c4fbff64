import Basics
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

extension S3Responder {
    func putObject(
        _ request: Request, _ address: S3ObjectAddress, _ caller: VerifiedS3Request
    ) async throws -> Response {
        let preconditions = S3Preconditions(request.headers)
        let metadata = try Self.metadata(of: request.headers)
        return try await receive(request, caller, as: address) { file, received in
            let object = StoredObject(
                bucket: address.bucket, key: address.key, file: file.name, size: received.size, eTag: received.md5,
                contentType: request.headers[.contentType], disposition: request.headers[.contentDisposition],
                metadata: metadata, createdAt: clock.now
            )
            try await uploads.keep(
                &file, as: object, for: caller.principal, replacing: preconditions.permitReplacing)
            var headers = received.checksums
            headers[.eTag] = object.quotedETag
            return Response(status: .ok, headers: headers)
        }
    }

    func getObject(
        _ request: Request, _ address: S3ObjectAddress, _ caller: VerifiedS3Request, _ query: SigV4Query
    ) async throws -> Response {
        let (object, reader) = try await open(address, caller.principal.business)
        let (head, bytes) = try Self.head(of: object, request, caller, query)
        guard let bytes else { return head }
        return Response(status: head.status, headers: head.headers, body: Self.body(of: reader, bytes))
    }

    /// Query parameters that override headers of the answer; the signer may set them (AWS: GetObject).
    private static let overrides: [(parameter: String, name: HTTPField.Name)] = [
        ("response-content-type", .contentType), ("response-content-disposition", .contentDisposition),
        ("response-content-language", .contentLanguage), ("response-content-encoding", .contentEncoding),
        ("response-cache-control", .cacheControl), ("response-expires", .expires),
    ]

    /// The answer without its body, and the byte range to send; nil for an answer without a body.
    private static func head(
        of object: StoredObject, _ request: Request, _ caller: VerifiedS3Request, _ query: SigV4Query
    ) throws(S3Error) -> (answer: Response, bytes: Range<Int>?) {
        var headers = object.headers
        for (parameter, name) in overrides { headers[name] = query[parameter] ?? headers[name] }
        if caller.isPresigned { headers.sandboxLink(for: request.headers[.origin]) } else { headers.forbidSniffing() }
        switch S3Preconditions(request.headers).verdict(on: object) {
        case .failed: throw .preconditionFailed
        case .notModified:
            headers[.contentLength] = nil
            return (Response(status: .notModified, headers: headers), nil)
        case .met: break
        }
        let range: ByteRange?
        do {
            range = try request.headers[.range].flatMap { text throws(ByteRange.Unsatisfiable) in
                try ByteRange(text, of: object.size)
            }
        } catch {
            throw .invalidRange
        }
        guard let range else { return (Response(status: .ok, headers: headers), 0..<object.size) }
        headers[.contentLength] = String(range.bytes.count)
        headers[.contentRange] = range.contentRange(of: object.size)
        return (Response(status: .partialContent, headers: headers), Range(range.bytes))
    }

    /// Opens an object for reading. The bytes stay this object's, even if it is replaced meanwhile.
    private func open(
        _ address: S3ObjectAddress, _ business: BusinessID
    ) async throws -> (StoredObject, any ObjectReader) {
        while true {
            let object = try await object(address, business)
            if let reader = try await uploads.open(object) { return (object, reader) }
            // Replaced between reading the row and opening the file: the new row names another file.
            let now = try await self.object(address, business)
            guard now.file != object.file else { throw S3Error.internalError }
        }
    }

    private static func body(of reader: any ObjectReader, _ bytes: Range<Int>) -> ResponseBody {
        ResponseBody(contentLength: bytes.count) { writer in
            var rest = bytes
            while !rest.isEmpty {
                let piece = try await reader.read(rest)
                guard piece.readableBytes > 0 else { throw S3Error.internalError }
                rest = (rest.lowerBound + piece.readableBytes)..<rest.upperBound
                try await writer.write(piece)
            }
            try await writer.finish(nil)
        }
    }

    func headObject(
        _ request: Request, _ address: S3ObjectAddress, _ caller: VerifiedS3Request, _ query: SigV4Query
    ) async throws -> Response {
        try Self.head(of: try await object(address, caller.principal.business), request, caller, query).answer
    }

    /// Deletes an object; succeeds also without one, as S3 does.
    func deleteObject(_ address: S3ObjectAddress, _ business: BusinessID) async throws -> Response {
        try await uploads.delete(bucket: address.bucket, key: address.key, of: business)
        return Response(status: .noContent)
    }

    private func object(_ address: S3ObjectAddress, _ business: BusinessID) async throws -> StoredObject {
        guard
            let object = try await store.object(business: business, bucket: address.bucket, key: address.key)
        else {
            throw S3Error.noSuchKey
        }
        return object
    }

    /// Largest metadata of an object, in bytes, as on AWS.
    private static let metadataLimit = 2048

    /// The `x-amz-meta-` headers, without that prefix.
    /// - Throws: ``S3Error/metadataTooLarge``.
    static func metadata(of headers: HTTPFields) throws(S3Error) -> [String: String] {
        let prefix = "x-amz-meta-"
        var metadata: [String: String] = [:]
        var size = 0
        for field in headers where field.name.canonicalName.hasPrefix(prefix) {
            size += field.name.canonicalName.utf8.count + field.value.utf8.count
            guard size <= metadataLimit else { throw .metadataTooLarge }
            let name = String(field.name.canonicalName.dropFirst(prefix.count))
            metadata[name] = metadata[name].map { "\($0),\(field.value)" } ?? field.value
        }
        return metadata
    }
}

extension StoredObject {
    /// The ETag in quotes, as in headers and XML (eka.md 3.2).
    var quotedETag: String { "\"\(eTag)\"" }

    fileprivate var headers: HTTPFields {
        var headers: HTTPFields = [
            .eTag: quotedETag, .contentLength: String(size), .contentType: contentType ?? "binary/octet-stream",
            .lastModified: createdAt.httpTime, .acceptRanges: "bytes",
        ]
        headers[.contentDisposition] = disposition
        for (name, value) in metadata {
            if let name = HTTPField.Name("x-amz-meta-\(name)") { headers[name] = value }
        }
        return headers
    }
}
