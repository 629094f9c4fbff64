import Basics
import Foundation
import ServerTestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct SigV4Tests {
    @Test("AWS's documented signing key signs AWS's documented request")
    func documentedExample() {
        // From "Authenticating Requests: Using the Authorization Header", GET Object.
        let message = SigV4.Message(
            method: "GET", path: "/test.txt", query: "",
            header: { name in
                [
                    "host": "examplebucket.s3.amazonaws.com", "range": "bytes=0-9",
                    "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                    "x-amz-date": "20130524T000000Z",
                    "authorization": """
                    AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
                    SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
                    Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41
                    """,
                ][name]
            }
        )
        let signature = try? SigV4.read(from: message)
        #expect(
            signature.map { signature in
                signature.isValid(
                    for: message, payloadHash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                    key: signature.scope.signingKey(secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
                )
            } == true
        )
    }

    @Test(
        "a signed path is decoded and encoded again in AWS's form",
        arguments: [
            ("/a b", "/a%20b"), ("/a+b", "/a%2Bb"), ("/%7Ea", "/~a"), ("/a%2fb", "/a/b"), ("/ü", "/%C3%BC"),
            ("/a*b", "/a%2Ab"),
        ]
    )
    func encoding(path: String, canonical: String) throws {
        let decoded = try #require(PercentEncoding.decode(path))
        #expect(PercentEncoding.encode(decoded, keepingSlashes: true) == canonical)
    }

    @Test("a signed path with broken escapes is refused", arguments: ["/%", "/%4", "/%zz", "/%ff"])
    func brokenEscapes(path: String) {
        #expect(PercentEncoding.decode(path) == nil)
    }

    @Test("the canonical query of a signature is sorted")
    func query() {
        #expect(SigV4Query("b=2&a=1&X-Amz-Signature=x&a=0&c")?.canonical == "a=0&a=1&b=2&c=")
    }

    @Test(
        "a signature with an impossible date or time is refused",
        arguments: [
            ("20240229T235959Z", true), ("20230229T000000Z", false), ("20240431T000000Z", false),
            ("20240101T240000Z", false), ("20240101T006000Z", false), ("20240101T000060Z", false),
            ("20240101T00+000Z", false), ("2024010 T000000Z", false), ("19691231T235959Z", false),
            ("20240101T000000+", false), ("20240101 000000Z", false), ("20240101T00000Z", false),
        ]
    )
    func signedAt(timestamp: String, isTime: Bool) throws {
        let query = """
            X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA/\(timestamp.prefix(8))/us-east-1/s3/aws4_request\
            &X-Amz-Date=\(PercentEncoding.encode(timestamp, keepingSlashes: false))&X-Amz-Expires=60\
            &X-Amz-SignedHeaders=host&X-Amz-Signature=\(String(repeating: "0", count: 64))
            """
        let message = SigV4.Message(method: "GET", path: "/b/k", query: query) { _ in nil }
        if isTime {
            #expect(try SigV4.read(from: message)?.date.map(SigningScope.timestamp) == timestamp)
        } else {
            #expect(throws: S3Error.self) { try SigV4.read(from: message) }
        }
    }
}
