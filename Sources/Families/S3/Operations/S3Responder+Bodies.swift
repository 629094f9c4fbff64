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
    /// The sender's declared checksums, verified; the answer repeats them.
    let checksums: HTTPFields
}

/// Declared size and checksums of a body.
private struct DeclaredBody {
    let size: Int
    let md5: Data?
    let checksums: [ChecksumAlgorithm: [UInt8]]
    let trailers: Set<ChecksumAlgorithm>
    private let named: Set<ChecksumAlgorithm>

    func asksFor(_ algorithm: ChecksumAlgorithm) -> Bool { named.contains(algorithm) || trailers.contains(algorithm) }

    init(_ headers: HTTPFields, _ payload: S3Payload) throws(S3Error) {
        let isStreaming = if case .streaming = payload { true } else { false }
        let lengthField: HTTPField.Name = isStreaming ? .amzDecodedContentLength : .contentLength
        guard let size = headers[lengthField].flatMap(Int.init), size >= 0 else { throw .missingContentLength }
        guard size <= S3Responder.objectLimit else { throw .entityTooLarge }
        self.size = size
        if let text = headers[.contentMD5] {
            guard let digest = Data(base64Encoded: text), digest.count == 16 else { throw .invalidDigest }
            md5 = digest
        } else {
            md5 = nil
        }
        var checksums: [ChecksumAlgorithm: [UInt8]] = [:]
        for algorithm in ChecksumAlgorithm.allCases {
            guard let text = headers[algorithm.headerName] else { continue }
            guard let digest = Data(base64Encoded: text) else { throw .invalidDigest }
            checksums[algorithm] = [UInt8](digest)
        }
        named = Set(checksums.keys)
        if case .signed(let sha256) = payload {
            if let other = checksums[.sha256], other != sha256 { throw .badDigest("x-amz-checksum-sha256") }
            checksums[.sha256] = sha256
        }
        self.checksums = checksums
        trailers = Set(
            headers[values: .amzTrailer].flatMap { $0.split(separator: ",") }.compactMap { name in
                let name = name.trimmingCharacters(in: .whitespaces).lowercased()
                return ChecksumAlgorithm.allCases.first { $0.headerName.canonicalName == name }
            }
        )
    }
}

extension S3Responder {
    /// Largest object, in bytes.
    static let objectLimit = Limits.recording

    /// Streams the body to a new file, verifies its declared size and checksums, and lends the file to `body`, which
    /// keeps it.
    /// - Parameter address: Address of the future object; nil for a part of a multipart upload.
    func receive(
        _ request: Request, _ caller: VerifiedS3Request, as address: S3ObjectAddress? = nil,
        _ body: (inout NewObject, ReceivedBody) async throws -> Response
    ) async throws -> Response {
        let declared = try DeclaredBody(request.headers, caller.payload)
        return try await uploads.receive(
            for: caller.principal.business, expecting: declared.size, at: address.map { ($0.bucket, $0.key) },
            checksums: declared.trailers.union(declared.checksums.keys)
        ) { file in
            var trailers: [ChecksumAlgorithm: [UInt8]] = [:]
            switch caller.payload {
            case .unsigned, .signed:
                for try await buffer in request.body { try await file.write(buffer) }
            case .streaming(let isSigned, let hasTrailer):
                var decoder = AWSChunkedDecoder(
                    signatures: isSigned ? caller.chunkSignatures : nil, hasTrailer: hasTrailer
                )
                var size = 0
                for try await buffer in request.body {
                    for piece in try decoder.decode(buffer) {
                        size += piece.readableBytes
                        guard size <= declared.size else { throw S3Error.incompleteBody }
                        try await file.write(piece)
                    }
                }
                try decoder.finish()
                trailers = try Self.checksums(in: decoder.trailers)
            }
            let written = try await file.finish()
            caller.noteObject(written.md5)
            guard written.size == declared.size else { throw S3Error.incompleteBody }
            if let md5 = declared.md5, md5 != Data(written.md5) { throw S3Error.badDigest("Content-MD5") }
            try check(written, declared, trailers, caller.payload)
            return try await body(
                &file,
                ReceivedBody(
                    size: written.size, md5: Hex.encode(written.md5), checksums: Self.fields(for: written, declared)))
        }
    }

    private func check(
        _ written: WrittenObject, _ declared: DeclaredBody, _ trailers: [ChecksumAlgorithm: [UInt8]],
        _ payload: S3Payload
    ) throws(S3Error) {
        guard declared.trailers.isSuperset(of: trailers.keys) else {
            throw .invalidRequest("A checksum came in a trailer that x-amz-trailer does not announce.")
        }
        for (algorithm, expected) in declared.checksums where written.checksums[algorithm] != expected {
            if case .signed = payload, algorithm == .sha256 { throw .contentSHA256Mismatch }
            throw .badDigest(algorithm.headerName.canonicalName)
        }
        for algorithm in declared.trailers {
            guard let expected = trailers[algorithm] else { throw .incompleteBody }
            guard written.checksums[algorithm] == expected else { throw .badDigest(algorithm.headerName.canonicalName) }
        }
    }

    private static func checksums(
        in trailers: [(name: String, value: String)]
    ) throws(S3Error) -> [ChecksumAlgorithm: [UInt8]] {
        var checksums: [ChecksumAlgorithm: [UInt8]] = [:]
        for trailer in trailers {
            guard
                let algorithm = ChecksumAlgorithm.allCases.first(where: { $0.headerName.canonicalName == trailer.name })
            else { continue }
            guard let digest = Data(base64Encoded: trailer.value) else { throw .invalidDigest }
            checksums[algorithm] = [UInt8](digest)
        }
        return checksums
    }

    /// Checksum headers of the answer. The payload's own hash is not a requested checksum.
    private static func fields(for written: WrittenObject, _ declared: DeclaredBody) -> HTTPFields {
        var fields = HTTPFields()
        for (algorithm, value) in written.checksums where declared.asksFor(algorithm) {
            fields[algorithm.headerName] = Data(value).base64EncodedString()
        }
        return fields
    }
}

extension ChecksumAlgorithm {
    var headerName: HTTPField.Name {
        switch self {
        case .crc32: .amzChecksumCRC32
        case .crc32c: .amzChecksumCRC32C
        case .crc64nvme: .amzChecksumCRC64NVME
        case .sha1: .amzChecksumSHA1
        case .sha256: .amzChecksumSHA256
        }
    }
}
