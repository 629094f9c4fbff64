import Basics
import Crypto
import Foundation
import NIOCore
import ServerTestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// The two examples that AWS documents under "Signature calculation: transfer payload in multiple chunks".
struct AWSChunkedDecoderTests {
    static let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    static let body = String(repeating: "a", count: 65_536) + String(repeating: "a", count: 1024)

    static let signed = """
        10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r
        \(String(repeating: "a", count: 65_536))\r
        400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r
        \(String(repeating: "a", count: 1024))\r
        0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r
        \r

        """

    static let signedWithTrailer = """
        10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r
        \(String(repeating: "a", count: 65_536))\r
        400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r
        \(String(repeating: "a", count: 1024))\r
        0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r
        x-amz-checksum-crc32c:sOO8/Q==\r
        x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r
        \r

        """

    static let unsignedWithTrailer = """
        5\r
        hello\r
        6\r
         world\r
        0\r
        x-amz-checksum-crc32:DUoRhQ==\r
        \r

        """

    func decoder(seed: String, hasTrailer: Bool) throws -> AWSChunkedDecoder {
        let signature = SigV4(
            placement: .header,
            scope: try #require(SigningScope("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request")),
            timestamp: "20130524T000000Z", signedHeaders: ["host"], signature: try #require(Hex.decode(seed))
        )
        return AWSChunkedDecoder(
            signatures: SigV4ChunkSignatures(signature, key: signature.scope.signingKey(secret: Self.secret)),
            hasTrailer: hasTrailer
        )
    }

    func decode(_ text: String, in pieces: Int, _ decoder: AWSChunkedDecoder) throws -> (String, AWSChunkedDecoder) {
        var decoder = decoder
        var bytes = Array(text.utf8)[...]
        var result = ""
        while !bytes.isEmpty {
            for piece in try decoder.decode(ByteBuffer(bytes: bytes.prefix(pieces))) { result += String(buffer: piece) }
            bytes = bytes.dropFirst(pieces)
        }
        try decoder.finish()
        return (result, decoder)
    }

    @Test("AWS's example of signed chunks is decoded, however it is cut", arguments: [1, 7, 1000, 65_536, 1 << 20])
    func signedChunks(pieces: Int) throws {
        let decoder = try decoder(
            seed: "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9", hasTrailer: false
        )
        #expect(try decode(Self.signed, in: pieces, decoder).0 == Self.body)
    }

    @Test("AWS's example of signed chunks with a signed trailer is decoded", arguments: [13, 1 << 20])
    func signedTrailer(pieces: Int) throws {
        let decoder = try decoder(
            seed: "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e", hasTrailer: true
        )
        let (body, after) = try decode(Self.signedWithTrailer, in: pieces, decoder)
        #expect(body == Self.body)
        #expect(after.trailers.map(\.value) == ["sOO8/Q=="])
    }

    @Test("an upload in unsigned chunks is decoded with its trailers", arguments: [1, 5, 1000])
    func unsignedTrailer(pieces: Int) throws {
        let (body, after) = try decode(
            Self.unsignedWithTrailer, in: pieces, AWSChunkedDecoder(signatures: nil, hasTrailer: true)
        )
        #expect(body == "hello world")
        #expect(after.trailers.map(\.name) == ["x-amz-checksum-crc32"])
    }

    @Test(
        "a changed byte, size or signature in a signed chunk is refused",
        arguments: [
            ("aaa\r", "aab\r"), ("ad80", "ad81"), ("b6c6", "b6c7"), ("400;", "3ff;"),
            (";chunk-signature=0055", ";x=0055"),
        ]
    )
    func tampering(original: String, changed: String) throws {
        let decoder = try decoder(
            seed: "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9", hasTrailer: false
        )
        let text = Self.signed.replacingOccurrences(of: original, with: changed)
        #expect(text != Self.signed)
        #expect(throws: S3Error.self) { try decode(text, in: 1000, decoder) }
    }

    @Test("a changed trailer of a signed upload is refused")
    func trailerTampering() throws {
        let decoder = try decoder(
            seed: "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e", hasTrailer: true
        )
        let text = Self.signedWithTrailer.replacingOccurrences(of: "sOO8", with: "sOO9")
        #expect(throws: S3Error.signatureDoesNotMatch()) { try decode(text, in: 1000, decoder) }
    }

    @Test("a chunked upload that is cut off anywhere is refused")
    func cutOff() throws {
        let whole = Self.unsignedWithTrailer
        // The last line end may be missing.
        for length in 0..<(whole.utf8.count - 2) {
            #expect(throws: S3Error.self, "after \(length) bytes") {
                try decode(
                    String(decoding: whole.utf8.prefix(length), as: UTF8.self), in: 3,
                    AWSChunkedDecoder(signatures: nil, hasTrailer: true)
                )
            }
        }
    }

    @Test(
        "invalid chunk framing of an upload is refused",
        arguments: [
            "hello", "5\r\nhello", "-5\r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n",
            "FFFFFFFFFFFFFFFF\r\n", "5 \r\nhello\r\n0\r\n\r\n", "\r\n", "0\r\n\r\nmore",
            "5\r\nhello\r\n0\r\nnocolon\r\n\r\n",
            String(repeating: "0", count: 5000),
        ]
    )
    func nonsense(text: String) {
        #expect(throws: S3Error.self) {
            try decode(text, in: 4, AWSChunkedDecoder(signatures: nil, hasTrailer: false))
        }
    }
}
