import Basics
import Crypto
import Foundation
import ScribeHTTP

/// Verifies the chunk signatures of an `aws-chunked` body. Each signature covers the previous one.
struct SigV4ChunkSignatures: Sendable {
    private let key: SymmetricKey
    private let timestamp: String
    private let scope: String
    private var previous: [UInt8]

    init(_ signature: SigV4, key: SymmetricKey) {
        self.key = key
        timestamp = signature.timestamp
        scope = signature.scope.text
        previous = signature.signature
    }

    /// Verifies the signature of the next chunk, whose hash is given.
    mutating func checkChunk(hash: SHA256Digest, _ signature: [UInt8]) -> Bool {
        let empty = Hex.encode(SHA256.hash(data: Data()))
        return check(
            ["AWS4-HMAC-SHA256-PAYLOAD", timestamp, scope, Hex.encode(previous), empty, Hex.encode(hash)], signature)
    }

    /// Verifies the signature of the trailers.
    mutating func checkTrailer(_ trailers: [(name: String, value: String)], _ signature: [UInt8]) -> Bool {
        let text = trailers.map { "\($0.name):\($0.value)\n" }.joined()
        let hash = Hex.encode(SHA256.hash(data: Data(text.utf8)))
        return check(["AWS4-HMAC-SHA256-TRAILER", timestamp, scope, Hex.encode(previous), hash], signature)
    }

    private mutating func check(_ lines: [String], _ signature: [UInt8]) -> Bool {
        previous = signature
        return HMAC<SHA256>.isValidAuthenticationCode(
            signature, authenticating: Data(lines.joined(separator: "\n").utf8), using: key
        )
    }
}
