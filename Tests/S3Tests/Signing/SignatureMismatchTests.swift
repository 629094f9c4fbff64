import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct SignatureMismatchTests {
    private let path = "/bucket/260510/t/1.m4a"

    /// A request whose signature is over another path.
    private func mismatch(_ server: TestServer) async throws -> TestAnswer {
        let now = server.manual.now
        let box = Box<TestAnswer?>(nil)
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            let headers = signer.sign("GET", "/bucket/260510/t/2.m4a", at: now)
            box.set(try await anonymous.get(path, headers: headers))
        }
        return try #require(box.value)
    }

    @Test("a signature mismatch is answered with the string that the server has signed, as on AWS")
    func explained() async throws {
        let answer = try await mismatch(TestServer())
        #expect(answer.status == 403)
        #expect(answer.text.contains("<Code>SignatureDoesNotMatch</Code>"))
        #expect(answer.text.contains("<StringToSign>AWS4-HMAC-SHA256\n"))
        #expect(answer.text.contains("<CanonicalRequest>GET\n\(path)\n"))
    }

    @Test("in strict mode a signature mismatch does not show the string to sign")
    func strict() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        let answer = try await mismatch(server)
        #expect(answer.text.contains("<Code>SignatureDoesNotMatch</Code>"))
        #expect(!answer.text.contains("StringToSign") && !answer.text.contains("CanonicalRequest"))
    }

    @Test(
        "a presigned link cannot make the server show a browser's cookies in an error",
        arguments: ["cookie", "authorization"])
    func credentials(header: String) throws {
        let message = SigV4.Message(method: "GET", path: path, query: "", header: { _ in "secret" })
        func signed(_ headers: String) throws -> SigV4.Signed? {
            let authorization =
                "AWS4-HMAC-SHA256 Credential=a/20260510/ap-south-1/s3/aws4_request, SignedHeaders=\(headers), "
                + "Signature=\(String(repeating: "0", count: 64))"
            let read = SigV4.Message(
                method: "GET", path: path, query: "",
                header: { ["authorization": authorization, "x-amz-date": "20260510T091233Z"][$0] })
            return try #require(try SigV4.read(from: read)).signed(message, payloadHash: "UNSIGNED-PAYLOAD")
        }
        #expect(try signed("host") != nil)
        #expect(try signed("\(header < "host" ? "\(header);host" : "host;\(header)")") == nil)
    }
}
