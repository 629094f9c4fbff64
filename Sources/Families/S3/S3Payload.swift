import ScribeDomain
import ScribeHTTP

/// What `x-amz-content-sha256` says of the body (eka.md 10.4).
enum S3Payload: Hashable, Sendable {
    /// `UNSIGNED-PAYLOAD`.
    case unsigned
    /// The SHA-256 that the body must have.
    case signed(sha256: [UInt8])
    /// `STREAMING-AWS4-HMAC-SHA256-PAYLOAD` and its siblings: the body is framed in chunks.
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

/// Who sent a request and how its body is to be checked.
struct S3Authorisation: Sendable {
    let principal: Principal
    let payload: S3Payload
    /// Whether the signature is in the address, which is a credential then for whoever has it.
    let isByLink: Bool
    /// Continues the request's signature over the chunks of a streaming body.
    let chunkSignatures: SigV4ChunkSignatures
}
