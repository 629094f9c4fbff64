import Basics
import Crypto
import Foundation
import NIOCore

@testable import Eka
@testable import S3
@testable import ScribeHTTP

/// Bodies in `aws-chunked` framing. The first byte holds flags, the second how many bytes follow that say how long the
/// pieces are in which the rest arrives.
@Sendable func fuzzChunkedBody(_ data: Data) {
    guard data.count >= 2 else { return }
    let bytes = Array(data)
    let decoding = Decoding(isSigned: bytes[0] & 1 != 0, hasTrailer: bytes[0] & 2 != 0)
    let lengths = bytes.dropFirst(2).prefix(Int(bytes[1] & 15)).map { Int($0) + 1 }
    let rest = Array(bytes.dropFirst(2 + lengths.count))
    if bytes[0] & 4 == 0 {
        require(decoding.decode([rest]) == decoding.decode(cut(rest, lengths)), "how a body is cut does not matter")
    } else {
        // Signing many chunks would take long.
        fuzzFraming(of: Array(rest.prefix(256)), lengths, decoding, flippedBit: 1 << (bytes[0] >> 5))
    }
}

/// An object, framed as a client does it.
private func fuzzFraming(of object: [UInt8], _ lengths: [Int], _ decoding: Decoding, flippedBit: UInt8) {
    let framed = frame(cut(object, lengths), decoding)
    let whole = decoding.decode([framed])
    require(whole?.object == object, "what was framed comes out")
    require(whole?.trailers == (decoding.hasTrailer ? [exampleTrailer] : []), "and so do trailers")
    require(decoding.decode(cut(framed, lengths)) == whole, "however it is cut")

    // Somewhere the body ends, or has another bit. The last line end may be missing.
    let place = Int(object.reduce(UInt(lengths.count)) { $0 &* 31 &+ UInt($1) } % UInt(framed.count - 2))
    require(decoding.decode([Array(framed[..<place])]) == nil, "an end that is missing is noticed")
    if decoding.isSigned {
        var changed = framed
        changed[place] ^= flippedBit
        let result = decoding.decode([changed])
        require(result == nil || result == whole, "what was changed is noticed")
    }
}

private struct Decoded: Hashable {
    var object: [UInt8] = []
    var trailers: [String] = []
}

private struct Decoding {
    let isSigned: Bool
    let hasTrailer: Bool

    /// nil for a body that is refused.
    func decode(_ pieces: [[UInt8]]) -> Decoded? {
        var decoder = AWSChunkedDecoder(
            signatures: isSigned ? SigV4ChunkSignatures(request, key: key) : nil, hasTrailer: hasTrailer
        )
        var decoded = Decoded()
        do {
            for piece in pieces {
                for part in try decoder.decode(ByteBuffer(bytes: piece)) { decoded.object += part.readableBytesView }
            }
            try decoder.finish()
        } catch {
            return nil
        }
        decoded.trailers = decoder.trailers.map { "\($0.name):\($0.value)" }
        return decoded
    }
}

/// Without `lengths` one piece, else as long as they say in turn.
private func cut(_ bytes: [UInt8], _ lengths: [Int]) -> [[UInt8]] {
    var rest = bytes[...]
    var pieces: [[UInt8]] = []
    while !rest.isEmpty {
        let length = lengths.isEmpty ? rest.count : lengths[pieces.count % lengths.count]
        pieces.append(Array(rest.prefix(length)))
        rest = rest.dropFirst(length)
    }
    return pieces
}

// MARK: The client's half

/// AWS's example of a streaming upload.
private let request: SigV4 = {
    guard let scope = SigningScope("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"),
        let seed = Hex.decode("106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e")
    else { fatalError("the example cannot be read") }
    return SigV4(
        placement: .header, scope: scope, timestamp: "20130524T000000Z", signedHeaders: ["host"], signature: seed
    )
}()
private let key = request.scope.signingKey(secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

private let exampleTrailer = "x-amz-checksum-crc32:AAAAAA=="

private func frame(_ chunks: [[UInt8]], _ decoding: Decoding) -> [UInt8] {
    var previous = Hex.encode(request.signature)
    func sign(_ kind: String, _ hashes: [String]) -> String {
        let text = (["AWS4-HMAC-SHA256-\(kind)", request.timestamp, request.scope.text, previous] + hashes)
            .joined(separator: "\n")
        previous = Hex.encode(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
        return previous
    }
    func hash(_ bytes: some Sequence<UInt8>) -> String { Hex.encode(SHA256.hash(data: Data(bytes))) }

    var body: [UInt8] = []
    for chunk in chunks + [[]] {
        let signature = decoding.isSigned ? ";chunk-signature=\(sign("PAYLOAD", [hash([]), hash(chunk)]))" : ""
        body += Array("\(String(chunk.count, radix: 16))\(signature)\r\n".utf8) + chunk
        if !chunk.isEmpty { body += Array("\r\n".utf8) }
    }
    if decoding.hasTrailer {
        body += Array("\(exampleTrailer)\r\n".utf8)
        if decoding.isSigned {
            body += Array("x-amz-trailer-signature:\(sign("TRAILER", [hash("\(exampleTrailer)\n".utf8)]))\r\n".utf8)
        }
    }
    return body + Array("\r\n".utf8)
}
