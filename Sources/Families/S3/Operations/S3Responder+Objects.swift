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
        let headers = try KeptHeaders.of(request.headers)
        let declared = try DeclaredBody(request.headers, caller.payload)
        return try await receive(request, caller, as: address, declared: declared) { file, received in
            let object = StoredObject(
                bucket: address.bucket, key: address.key, file: file.name, size: received.size, eTag: received.md5,
                headers: headers, checksum: received.checksum, createdAt: clock.now
            )
            try await uploads.keep(
                &file, as: object, for: caller.principal, replacing: preconditions.permitReplacing)
            var answer = received.checksum.fields
            answer[.eTag] = object.quotedETag
            return Response(status: .ok, headers: answer)
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
        var headers = object.answerFields
        for (parameter, name) in overrides { headers[name] = query[parameter] ?? headers[name] }
        if caller.isPresigned {
            headers.sandboxLink(for: request.headers.value(of: .origin))
        } else {
            headers.forbidSniffing()
        }
        switch S3Preconditions(request.headers).verdict(on: object) {
        case .failed: throw .preconditionFailed
        case .notModified:
            headers[.contentLength] = nil
            return (Response(status: .notModified, headers: headers), nil)
        case .met: break
        }
        if query["partNumber"] != nil {
            guard request.headers.value(of: .range) == nil else {
                throw .invalidRequest("Cannot specify both Range header and partNumber query parameter")
            }
            let part = try object.part(try S3Operation.partNumber(query))
            if !object.parts.isEmpty { headers[.amzPartsCount] = String(object.parts.count) }
            headers[.contentLength] = String(part.count)
            if !part.isEmpty {
                headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(object.size)"
            }
            return (Response(status: .partialContent, headers: headers), part)
        }
        guard let range = try range(request.headers.value(of: .range), of: object.size) else {
            if request.headers.value(of: .amzChecksumMode)?.lowercased() == "enabled", let checksum = object.checksum {
                headers.append(contentsOf: checksum.fields)
            }
            return (Response(status: .ok, headers: headers), 0..<object.size)
        }
        headers[.contentLength] = String(range.bytes.count)
        headers[.contentRange] = range.contentRange(of: object.size)
        return (Response(status: .partialContent, headers: headers), Range(range.bytes))
    }

    /// The wanted bytes; nil for all of them.
    /// - Throws: ``S3Error/invalidRange(_:of:)``.
    static func range(_ header: String?, of size: Int) throws(S3Error) -> ByteRange? {
        guard let header else { return nil }
        do {
            return try ByteRange(header, of: size)
        } catch {
            throw .invalidRange(header, of: size)
        }
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
            let isWhole = try await reader.read(bytes) { try await writer.write($0) }
            guard isWhole else { throw S3Error.internalError }
            try await writer.finish(nil)
        }
    }

    func headObject(
        _ request: Request, _ address: S3ObjectAddress, _ caller: VerifiedS3Request, _ query: SigV4Query
    ) async throws -> Response {
        try Self.head(of: try await object(address, caller.principal.business), request, caller, query).answer
    }

    /// - Throws: ``S3Error/noSuchKey``.
    func object(_ address: S3ObjectAddress, _ business: BusinessID) async throws -> StoredObject {
        guard
            let object = try await store.audio.object(business: business, bucket: address.bucket, key: address.key)
        else {
            throw S3Error.noSuchKey
        }
        return object
    }
}

extension StoredObject {
    /// The ETag in quotes, as in headers and XML (eka.md 3.2).
    var quotedETag: String { "\"\(eTag)\"" }

    fileprivate var answerFields: HTTPFields {
        var fields: HTTPFields = [
            .eTag: quotedETag, .contentLength: String(size), .contentType: contentType ?? "binary/octet-stream",
            .lastModified: createdAt.httpTime, .acceptRanges: "bytes",
        ]
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }

    /// Bytes of a part; the whole object is part 1 of an object that was sent whole.
    /// - Throws: ``S3Error/invalidPartNumber``.
    fileprivate func part(_ number: Int) throws(S3Error) -> Range<Int> {
        let sizes = parts.isEmpty ? [size] : parts
        guard sizes.indices.contains(number - 1) else { throw .invalidPartNumber }
        let start = sizes.prefix(number - 1).reduce(0, +)
        return start..<start + sizes[number - 1]
    }
}
