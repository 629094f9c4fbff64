import Crypto
import Foundation
import HTTPTypes
import TestSupport
import Testing

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
        "escapes are undone and made again as AWS makes them",
        arguments: [
            ("/a b", "/a%20b"), ("/a+b", "/a%2Bb"), ("/%7Ea", "/~a"), ("/a%2fb", "/a/b"), ("/ü", "/%C3%BC"),
            ("/a*b", "/a%2Ab"),
        ]
    )
    func encoding(path: String, canonical: String) throws {
        let decoded = try #require(PercentEncoding.decode(path))
        #expect(PercentEncoding.encode(decoded, keepingSlashes: true) == canonical)
    }

    @Test("broken escapes are refused", arguments: ["/%", "/%4", "/%zz", "/%ff"])
    func brokenEscapes(path: String) {
        #expect(PercentEncoding.decode(path) == nil)
    }

    @Test("the query is sorted, whatever order it came in")
    func query() {
        #expect(SigV4Query("b=2&a=1&X-Amz-Signature=x&a=0&c")?.canonical == "a=0&a=1&b=2&c=")
    }
}

struct UploadTests {
    let server: TestServer
    let audio = TestAudio.wav(seconds: 1)
    let path = "/bucket/260510/t/1.m4a"

    init() throws { server = try TestServer() }

    @Test(
        "an upload is read back with its ETag, type and metadata", .covers("C-57", "C-73"),
        arguments: Transport.allCases)
    func roundTrip(transport: Transport) async throws {
        let now = server.manual.now
        try await server.run(transport) { anonymous in
            let signer = try await anonymous.login().signer()
            let put = try await anonymous.send(
                .put, path,
                headers: signer.sign(
                    "PUT", path, at: now,
                    extra: [("content-type", "audio/mp4"), ("x-amz-meta-bid", ""), ("x-amz-meta-txnid", "t")]
                ),
                body: audio
            )
            let md5 = Insecure.MD5.hash(data: audio).map { String(format: "%02x", $0) }.joined()
            #expect(put.status == 200)
            #expect(put.headers[.eTag] == "\"\(md5)\"")
            #expect(put.headers[.amzRequestID]?.isEmpty == false)
            let get = try await anonymous.send(.get, path, headers: signer.sign("GET", path, at: now))
            #expect(get.status == 200)
            #expect(get.body == audio)
            #expect(get.headers[.contentType] == "audio/mp4")
            #expect(get.headers[.lastModified] == "Sun, 10 May 2026 09:12:33 GMT")
            if let name = HTTPField.Name("x-amz-meta-txnid") { #expect(get.headers[name] == "t") }
            let head = try await anonymous.send(.head, path, headers: signer.sign("HEAD", path, at: now))
            #expect(head.status == 200)
            #expect(head.headers[.contentLength] == "\(audio.count)")
            #expect(head.body.isEmpty)
        }
    }

    @Test("a query-signed upload with its parameters unsorted is accepted, and expires", .covers("C-69"))
    func presigned() async throws {
        let manual = server.manual
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            let url = signer.presign("PUT", path, at: manual.now, expires: 3000)
            #expect(try await anonymous.send(.put, url, body: audio).status == 200)
            let changed = url.replacingOccurrences(of: "1.m4a", with: "2.m4a")
            let refused = try await anonymous.send(.put, changed, body: audio)
            #expect(refused.status == 403)
            #expect(refused.text.contains("SignatureDoesNotMatch"))
            manual.advance(by: .seconds(3001))
            let late = try await anonymous.send(.put, url, body: audio)
            #expect(late.status == 403)
            #expect(late.text.contains("Request has expired"))
        }
    }

    @Test("a signed payload must be what was signed, and nothing is stored otherwise")
    func signedPayload() async throws {
        let now = server.manual.now
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            let hash = SHA256.hash(data: audio).map { String(format: "%02x", $0) }.joined()
            let good = signer.sign("PUT", path, at: now, payload: hash)
            #expect(
                try await anonymous.send(.put, path, headers: good, body: Data("other".utf8)).text.contains(
                    "XAmzContentSHA256Mismatch"))
            #expect(try await anonymous.send(.get, path, headers: signer.sign("GET", path, at: now)).status == 404)
            #expect(try await anonymous.send(.put, path, headers: good, body: audio).status == 200)
        }
    }

    @Test("Content-MD5 is checked")
    func contentMD5() async throws {
        let now = server.manual.now
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            func put(_ md5: String) async throws -> TestAnswer {
                try await anonymous.send(
                    .put, path, headers: signer.sign("PUT", path, at: now, extra: [("content-md5", md5)]), body: audio
                )
            }
            #expect(
                try await put(Data(Insecure.MD5.hash(data: Data())).base64EncodedString()).text.contains("BadDigest"))
            #expect(try await put("nonsense").text.contains("InvalidDigest"))
            #expect(try await put(Data(Insecure.MD5.hash(data: audio)).base64EncodedString()).status == 200)
        }
    }

    @Test("a wrong signature, key or token is refused as AWS refuses it")
    func refusals() async throws {
        let manual = server.manual
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            func refusal(_ headers: HTTPFields) async throws -> (Int, String) {
                let answer = try await anonymous.send(.put, path, headers: headers, body: audio)
                #expect(answer.headers[.contentType] == "application/xml")
                let code = answer.text.split(separator: "<Code>").last?.split(separator: "</Code>").first
                return (answer.status, code.map(String.init) ?? "")
            }
            var wrong = signer
            wrong = RequestSigner(accessKeyID: signer.accessKeyID, secretKey: "x", sessionToken: signer.sessionToken)
            #expect(try await refusal(wrong.sign("PUT", path, at: manual.now)) == (403, "SignatureDoesNotMatch"))
            wrong = RequestSigner(accessKeyID: signer.accessKeyID, secretKey: signer.secretKey, sessionToken: "x.y.z")
            #expect(try await refusal(wrong.sign("PUT", path, at: manual.now)) == (400, "InvalidToken"))
            wrong = RequestSigner(
                accessKeyID: "ASIAOTHER", secretKey: signer.secretKey, sessionToken: signer.sessionToken)
            #expect(try await refusal(wrong.sign("PUT", path, at: manual.now)) == (403, "InvalidAccessKeyId"))
            #expect(try await refusal([:]) == (403, "AccessDenied"))
            var extended = signer.sign("PUT", path, at: manual.now)
            if let name = HTTPField.Name("x-amz-meta-txnid") { extended[name] = "added later" }
            #expect(try await refusal(extended) == (403, "AccessDenied"))
            #expect(
                try await refusal(signer.sign("PUT", path, at: manual.now.addingTimeInterval(-1000)))
                    == (403, "RequestTimeTooSkewed")
            )
            #expect(try await refusal([.authorization: "AWS4-HMAC-SHA256 x"]) == (400, "AuthorizationHeaderMalformed"))
            #expect(
                try await refusal(
                    signer.sign("PUT", path, at: manual.now, payload: "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD"))
                    == (501, "NotImplemented")
            )
            // Twelve hours later: 400, which makes clients fetch new ones; 403 would make the web client give up.
            manual.advance(by: .seconds(12 * 60 * 60))
            #expect(try await refusal(signer.sign("PUT", path, at: manual.now)) == (400, "ExpiredToken"))
        }
    }

    @Test("the session token is no access token")
    func sessionTokenIsNoAccessToken() async throws {
        var server = server
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        try await server.run { anonymous in
            let token = try await anonymous.login().signer().sessionToken
            #expect(try await anonymous.get("/credentials", headers: [.auth: token]).status == 401)
        }
    }

    @Test(
        "keys that climb, or that no file system should see, are refused",
        arguments: [
            "/bucket/../x", "/bucket/%2e%2e/x", "/bucket/..%2f..%2fx", "/bucket/a/%2E/b", "/bucket/a%00b",
            "/bucket/%0a",
            "/bucket/%zz", "/bucket/%ff", "/..%2fetc/passwd", "/bucket/..%2F%CC%81x/..",
        ]
    )
    func hostileKeys(path: String) async throws {
        let now = server.manual.now
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            let answer = try await anonymous.send(.put, path, headers: signer.sign("PUT", path, at: now), body: audio)
            #expect(answer.status == 400)
            #expect(answer.text.contains("InvalidURI"))
        }
    }

    @Test("a key of 1024 bytes is stored, one more is refused")
    func longKeys() async throws {
        let now = server.manual.now
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            for (length, status) in [(1024, 200), (1025, 400)] {
                let path = "/bucket/" + String(repeating: "k", count: length)
                let answer = try await anonymous.send(
                    .put, path, headers: signer.sign("PUT", path, at: now), body: audio)
                #expect(answer.status == status)
            }
        }
    }

    @Test("the bucket says its region to anyone", .covers("C-71"))
    func headBucket() async throws {
        try await server.run { anonymous in
            for path in ["/m-prod-voice-record", "/m-prod-voice-record/"] {
                let answer = try await anonymous.send(.head, path)
                #expect(answer.status == 200)
                #expect(answer.headers[.amzBucketRegion] == "ap-south-1")
            }
        }
    }

    @Test("an upload that fails leaves no file behind, and a replaced one leaves one")
    func files() async throws {
        let now = server.manual.now
        let objects = "\(server.configuration.dataFolder)/objects"
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            let wrong = signer.sign("PUT", path, at: now, payload: String(repeating: "0", count: 64))
            #expect(try await anonymous.send(.put, path, headers: wrong, body: audio).status == 400)
            #expect(Self.files(in: objects) == 0)
            for _ in 0..<3 {
                _ = try await anonymous.send(.put, path, headers: signer.sign("PUT", path, at: now), body: audio)
            }
            #expect(Self.files(in: objects) == 1)
        }
    }

    private static func files(in folder: String) -> Int {
        (FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []).filter { $0.contains("/") }
            .count
    }
}
