import Basics
import ScribeDomain
import ScribeHTTP

/// Parses `x-amz-content-sha256`: how the body is signed (eka.md 3.2).
enum S3Payload: Hashable, Sendable {
    /// `UNSIGNED-PAYLOAD`: the signature does not cover the body.
    case unsigned
    /// The body's SHA-256, which must match.
    case signed(sha256: [UInt8])
    /// `STREAMING-AWS4-HMAC-SHA256-PAYLOAD` and its variants: the body is framed in chunks.
    case streaming(isSigned: Bool, hasTrailer: Bool)

    static let unsignedWord = "UNSIGNED-PAYLOAD"

    init(_ word: String) throws(S3Error) {
        switch word {
        case Self.unsignedWord: self = .unsigned
        case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD": self = .streaming(isSigned: true, hasTrailer: false)
        case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER": self = .streaming(isSigned: true, hasTrailer: true)
        case "STREAMING-UNSIGNED-PAYLOAD-TRAILER": self = .streaming(isSigned: false, hasTrailer: true)
        case _ where word.hasPrefix("STREAMING-"):
            throw .notImplemented("The payload option \(word) is not implemented.")
        default:
            guard let digest = Hex.decode(word), digest.count == 32 else {
                throw .invalidRequest("x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a valid sha256 value.")
            }
            self = .signed(sha256: digest)
        }
    }
}

/// Caller of a verified request, with the rules for verifying its body.
struct VerifiedS3Request: Sendable {
    let principal: Principal
    let payload: S3Payload
    /// Whether the signature is in the URL, so that the link itself is the credential.
    let isPresigned: Bool
    /// Verifier of an `aws-chunked` body, which starts from the request's signature.
    let chunkSignatures: SigV4ChunkSignatures
    /// Tells the journal the MD5 of the object that the body has become.
    let noteObject: @Sendable (any Sequence<UInt8>) -> Void
}
