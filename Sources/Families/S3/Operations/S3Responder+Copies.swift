import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

extension S3Responder {
    /// Copies an object of the signer's own business; like any upload, the copy counts towards its quota.
    func copyObject(
        _ request: Request, _ address: S3ObjectAddress, _ caller: VerifiedS3Request
    ) async throws -> Response {
        let preconditions = S3Preconditions(request.headers)
        let source = try await source(of: request, caller)
        let replaces = try Self.replacesHeaders(request.headers)
        guard replaces || source.bucket != address.bucket || source.key != address.key else {
            throw S3Error.invalidRequest(
                "This copy request is illegal because it is trying to copy an object to itself without changing the "
                    + "object's metadata, storage class, website redirect location or encryption attributes.")
        }
        let headers = replaces ? try KeptHeaders.of(request.headers) : source.headers
        let algorithm = try Self.algorithm(in: request.headers) ?? source.checksum?.algorithm ?? Self.usualAlgorithm
        return try await copy(source, 0..<source.size, caller, at: address, algorithm) { file, received in
            let object = StoredObject(
                bucket: address.bucket, key: address.key, file: file.name, size: received.size, eTag: received.md5,
                headers: headers, checksum: received.checksum, createdAt: clock.now)
            try await uploads.keep(
                &file, as: object, for: caller.principal, replacing: preconditions.permitReplacing)
            return Self.result("CopyObjectResult", received, at: object.createdAt)
        }
    }

    func uploadPartCopy(
        _ request: Request, _ address: S3ObjectAddress, _ id: String, _ number: Int, _ caller: VerifiedS3Request
    ) async throws -> Response {
        let source = try await source(of: request, caller)
        let bytes = try Self.copiedBytes(request.headers.value(of: .amzCopySourceRange), of: source.size)
        let upload = try await upload(id, at: address, caller)
        return try await copy(source, bytes, caller, at: nil, upload.checksumAlgorithm) { file, received in
            let part = MultipartPart(
                number: number, file: file.name, size: received.size, md5: received.md5,
                checksum: received.checksum.text, createdAt: clock.now)
            guard
                try await uploads.keep(
                    &file, as: part, of: id, bucket: address.bucket, key: address.key, for: caller.principal)
            else { throw S3Error.noSuchUpload }
            return Self.result("CopyPartResult", received, at: part.createdAt)
        }
    }

    /// Bytes of a source that a part copies. The range of a copy has both ends, unlike that of a read.
    /// - Throws: ``S3Error/invalidArgument(_:)``.
    private static func copiedBytes(_ text: String?, of size: Int) throws(S3Error) -> Range<Int> {
        guard let text else { return 0..<size }
        guard let match = text.wholeMatch(of: /bytes=([0-9]{1,18})-([0-9]{1,18})/), let first = Int(match.1),
            let last = Int(match.2), first <= last
        else {
            throw .invalidArgument(
                "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the "
                    + "zero-based offsets of the first and last bytes to copy")
        }
        guard last < size else {
            throw .invalidArgument("Range specified is not valid for source object of size: \(size)")
        }
        return first..<last + 1
    }

    /// Copies bytes to a new file, and lends the file to `body`, which keeps it.
    /// - Throws: ``S3Error/noSuchKey`` if the source is deleted meanwhile.
    private func copy(
        _ source: StoredObject, _ bytes: Range<Int>, _ caller: VerifiedS3Request, at address: S3ObjectAddress?,
        _ algorithm: ChecksumAlgorithm, _ body: (inout NewObject, ReceivedBody) async throws -> Response
    ) async throws -> Response {
        try await uploads.receive(
            for: caller.principal.business, expecting: bytes.count, at: address.map { ($0.bucket, $0.key) },
            checksums: [algorithm]
        ) { file in
            guard try await file.write(source.file, bytes, of: uploads.objects) else { throw S3Error.noSuchKey }
            return try await body(&file, ReceivedBody(try await file.finish(), algorithm))
        }
    }

    /// The object that a copy names, of the signer's business.
    /// - Throws: ``S3Error/noSuchKey``, ``S3Error/preconditionFailed``, ``S3Error/invalidArgument(_:)``,
    ///   ``S3Error/notImplemented(_:)`` for a version.
    private func source(of request: Request, _ caller: VerifiedS3Request) async throws -> StoredObject {
        let parts = (request.headers.value(of: .amzCopySource) ?? "").split(ascii: "?", maxSplits: 1)
        guard parts.count < 2 else { throw S3Error.notImplemented("Versions of objects are not implemented.") }
        let path = parts.first ?? ""
        guard case .object(let address)? = try? S3Address(host: "", path: path.hasPrefix("/") ? "\(path)" : "/\(path)")
        else {
            throw S3Error.invalidArgument("Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
        }
        let object = try await object(address, caller.principal.business)
        guard S3Preconditions(ofCopy: request.headers).verdict(on: object) == .met else {
            throw S3Error.preconditionFailed
        }
        return object
    }

    private static func replacesHeaders(_ headers: HTTPFields) throws(S3Error) -> Bool {
        switch headers.value(of: .amzMetadataDirective)?.uppercased() {
        case nil, "COPY": return false
        case "REPLACE": return true
        default: throw .invalidArgument("Unknown metadata directive.")
        }
    }

    /// The algorithm that a copy or a multipart upload asks for; nil without one.
    /// - Throws: ``S3Error/invalidRequest(_:)``, ``S3Error/notImplemented(_:)``.
    static func algorithm(in headers: HTTPFields) throws(S3Error) -> ChecksumAlgorithm? {
        guard let word = headers.value(of: .amzChecksumAlgorithm) else { return nil }
        guard let algorithm = try DeclaredChecksum.algorithm(word) else {
            throw .invalidRequest(
                "Checksum algorithm provided is unsupported. Please try again with any of the valid types: "
                    + "[CRC32, CRC32C, CRC64NVME, MD5, SHA1, SHA256, SHA512]")
        }
        return algorithm
    }

    private static func result(_ name: String, _ received: ReceivedBody, at time: Date) -> Response {
        XMLElement(
            name, namespace: XMLElement.s3Namespace,
            [
                XMLElement("LastModified", time.s3Time), XMLElement("ETag", "\"\(received.md5)\""),
                XMLElement(received.checksum.elementName, received.checksum.text),
                XMLElement("ChecksumType", received.checksum.type),
            ]
        ).response(.ok)
    }
}
