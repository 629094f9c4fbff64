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

/// Verified size and checksums of a body.
struct ReceivedBody: Sendable {
    /// Size in bytes.
    let size: Int
    /// MD5 in lower-case hex.
    let md5: String
    /// The checksum that the sender declared, or CRC64NVME.
    let checksum: ObjectChecksum
    private let written: WrittenObject

    init(_ written: WrittenObject, _ declared: ChecksumAlgorithm?) {
        self.written = written
        size = written.size
        md5 = Hex.encode(written.md5)
        let algorithm = declared ?? S3Responder.usualAlgorithm
        checksum = ObjectChecksum(algorithm, written.checksums[algorithm] ?? [])
    }

    /// Another checksum that was computed, in base64.
    func checksum(_ algorithm: ChecksumAlgorithm) -> String {
        Data(written.checksums[algorithm] ?? []).base64EncodedString()
    }
}

/// Declared size and checksums of a body.
struct DeclaredBody: Sendable {
    /// In bytes; nil without a length.
    private let length: Int?
    private let md5: [UInt8]?
    let checksum: DeclaredChecksum?
    /// SHA-256 that the signature covers.
    private let sha256: [UInt8]?

    /// - Parameter isOfObject: Whether a checksum among the headers is that of an object, not of the body.
    /// - Throws: ``S3Error`` for malformed digests.
    init(_ headers: HTTPFields, _ payload: S3Payload, isOfObject: Bool = false) throws(S3Error) {
        let isStreaming = if case .streaming = payload { true } else { false }
        length = (headers[isStreaming ? .amzDecodedContentLength : .contentLength]).flatMap(Int.init)
        md5 = try headers.value(of: .contentMD5).map { text throws(S3Error) in
            guard let digest = Data(base64Encoded: text), digest.count == 16 else { throw .invalidDigest }
            return [UInt8](digest)
        }
        checksum = isOfObject ? nil : try DeclaredChecksum(headers)
        sha256 = if case .signed(let sha256) = payload { sha256 } else { nil }
        guard length == nil, headers.value(of: .transferEncoding) != nil else { return }
        throw .notImplemented("A header you provided implies functionality that is not implemented: Transfer-Encoding")
    }

    /// Whether the body has an MD5 or a checksum.
    var isProven: Bool { md5 != nil || checksum != nil }

    /// Checksums to compute beside the MD5.
    var algorithms: Set<ChecksumAlgorithm> {
        var algorithms: Set = [checksum?.algorithm ?? S3Responder.usualAlgorithm]
        if sha256 != nil { algorithms.insert(.sha256) }
        return algorithms
    }

    /// The size in bytes.
    /// - Throws: ``S3Error/missingContentLength``, ``S3Error/entityTooLarge``.
    func size(atMost limit: Int) throws(S3Error) -> Int {
        guard let length, length >= 0 else { throw .missingContentLength }
        guard length <= limit else { throw .entityTooLarge }
        return length
    }

    /// Verifies a body.
    /// - Parameter trailer: The checksum in its trailers.
    /// - Throws: ``S3Error/badDigest(_:)``, ``S3Error/contentSHA256Mismatch``, ``S3Error/malformedTrailer``.
    func verify(
        md5: [UInt8], trailer: [UInt8]? = nil, _ computed: (ChecksumAlgorithm) -> [UInt8]?
    ) throws(S3Error) {
        if let sha256, computed(.sha256) != sha256 { throw .contentSHA256Mismatch }
        if let declared = self.md5, declared != md5 { throw .badDigest("Content-MD5") }
        guard let checksum else { return }
        guard let expected = checksum.value ?? trailer else { throw .malformedTrailer }
        guard computed(checksum.algorithm) == expected else {
            throw .badDigest(checksum.algorithm.headerName.canonicalName)
        }
    }
}

extension S3Responder {
    /// Largest object, in bytes.
    static let objectLimit = Limits.recording
    /// Algorithm of the checksum of a client that chooses none (AWS, since December 2024).
    static let usualAlgorithm = ChecksumAlgorithm.crc64nvme

    /// Streams the body to a new file, verifies its declared size and checksums, and lends the file to `body`, which
    /// keeps it.
    /// - Parameters:
    ///   - address: Address of the future object; nil for a part of a multipart upload.
    ///   - algorithms: Checksums that are needed beside the declared one.
    func receive(
        _ request: Request, _ caller: VerifiedS3Request, as address: S3ObjectAddress? = nil,
        declared: DeclaredBody, algorithms: Set<ChecksumAlgorithm> = [],
        _ body: (inout NewObject, ReceivedBody) async throws -> Response
    ) async throws -> Response {
        let size = try declared.size(atMost: Self.objectLimit)
        return try await uploads.receive(
            for: caller.principal.business, expecting: size, at: address.map { ($0.bucket, $0.key) },
            checksums: declared.algorithms.union(algorithms)
        ) { file in
            var trailer: [UInt8]?
            switch caller.payload {
            case .unsigned, .signed:
                for try await buffer in request.body { try await file.write(buffer) }
            case .streaming(let isSigned, let hasTrailer):
                var decoder = AWSChunkedDecoder(
                    signatures: isSigned ? caller.chunkSignatures : nil, hasTrailer: hasTrailer
                )
                var received = 0
                for try await buffer in request.body {
                    for piece in try decoder.decode(buffer) {
                        received += piece.readableBytes
                        guard received <= size else { throw S3Error.incompleteBody }
                        try await file.write(piece)
                    }
                }
                try decoder.finish()
                trailer = try Self.checksum(in: decoder.trailers, declared.checksum)
            }
            let written = try await file.finish()
            caller.noteObject(written.md5)
            guard written.size == size else { throw S3Error.incompleteBody }
            try declared.verify(md5: Array(written.md5), trailer: trailer) { written.checksums[$0] }
            return try await body(&file, ReceivedBody(written, declared.checksum?.algorithm))
        }
    }

    /// The announced checksum among the trailers.
    private static func checksum(
        in trailers: [(name: String, value: String)], _ declared: DeclaredChecksum?
    ) throws(S3Error) -> [UInt8]? {
        var checksum: [UInt8]?
        for trailer in trailers where trailer.name.hasPrefix("x-amz-checksum-") {
            guard let declared, declared.value == nil, checksum == nil,
                trailer.name == declared.algorithm.headerName.canonicalName
            else { throw .malformedTrailer }
            checksum = try DeclaredChecksum.value(trailer.value, of: declared.algorithm)
        }
        return checksum
    }

    /// Collects, verifies and parses the body of a request whose XML the server reads.
    /// - Parameters:
    ///   - root: Name of the root element. A body without a byte is no error where `root` is optional.
    ///   - mustBeProven: Whether the body must have an MD5 or a checksum.
    ///   - isOfObject: Whether a checksum among the headers is that of an object, not of the body.
    ///   - read: Works on the root; nil for an empty body.
    /// - Throws: ``S3Error/malformedXML``, also for a longer body, and the errors of ``DeclaredBody``.
    func readDocument<Value: Sendable>(
        _ root: String, of request: Request, _ caller: VerifiedS3Request, upTo limit: Int, mustBeProven: Bool = false,
        isOfObject: Bool = false, _ context: ScribeContext, _ read: (XMLNode?) throws -> Value
    ) async throws -> Value {
        let declared = try DeclaredBody(request.headers, caller.payload, isOfObject: isOfObject)
        guard declared.isProven || !mustBeProven else {
            throw S3Error.invalidRequest(
                "Missing required header for this request: Content-MD5 OR x-amz-checksum-*")
        }
        let body: LargeInput<ByteBuffer>
        do {
            body = try await request.collectedBody(upTo: limit, in: context)
        } catch HTTPProblem.bodyTooLarge {
            throw S3Error.malformedXML
        }
        return try await body.read { body in
            var bytes = Array(body.readableBytesView)
            var trailer: [UInt8]?
            if case .streaming(let isSigned, let hasTrailer) = caller.payload {
                var decoder = AWSChunkedDecoder(
                    signatures: isSigned ? caller.chunkSignatures : nil, hasTrailer: hasTrailer)
                bytes = try decoder.decode(body).flatMap(\.readableBytesView)
                try decoder.finish()
                trailer = try Self.checksum(in: decoder.trailers, declared.checksum)
            }
            try declared.verify(md5: ChecksumAlgorithm.md5.checksum(of: bytes), trailer: trailer) {
                $0.checksum(of: bytes)
            }
            return try read(bytes.isEmpty ? nil : XMLNode(bytes, root: root))
        }
    }
}
