import Basics
import Crypto
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

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

    @Test("a presigned upload with unsorted parameters is accepted, and refused after its expiry", .covers("C-69"))
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

    @Test("an upload whose bytes differ from its signed hash is refused and not stored")
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

    @Test("an upload with a wrong Content-MD5 is refused")
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

    @Test("an upload with a wrong signature, key or token is refused with AWS's error code")
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

    @Test("an S3 session token is no access token")
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
        "an S3 key that leads out of its bucket, control characters and broken escapes are refused",
        arguments: [
            "/bucket/../x", "/bucket/%2e%2e/x", "/bucket/..%2f..%2fx", "/bucket/a/../../b", "/bucket/a%00b",
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

    @Test("an S3 key of 1024 bytes is stored, and a longer one is refused")
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

    @Test("HEAD of a bucket gives its region, at the bucket's host without credentials", .covers("C-71"))
    func headBucket() async throws {
        let now = server.manual.now
        try await server.run(.socket) { anonymous in
            for path in ["/m-prod-voice-record", "/m-prod-voice-record/", "/any-word"] {
                let answer = try await anonymous.send(.head, path)
                #expect(answer.status == 403)
                #expect(answer.headers[.amzBucketRegion] == "ap-south-1")
                #expect(try await anonymous.get(path).status == 403)
            }
            let signer = try await anonymous.login().signer()
            let own = try await anonymous.send(
                .head, "/m-prod-voice-record", headers: signer.sign("HEAD", "/m-prod-voice-record", at: now))
            #expect(own.status == 200)
            #expect(own.headers[.amzBucketRegion] == "ap-south-1")
            let host = "m-prod-voice-record.s3-us-west-1.amazonaws.com"
            let atHost = try await anonymous.send(.head, "/", host: host, headers: [.accept: "*/*"])
            #expect(atHost.status == 200)
            #expect(atHost.headers[.amzBucketRegion] == "ap-south-1")
        }
    }

    @Test("a failed upload leaves no file, and repeated uploads of one key leave one file")
    func files() async throws {
        let now = server.manual.now
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            let wrong = signer.sign("PUT", path, at: now, payload: String(repeating: "0", count: 64))
            #expect(try await anonymous.send(.put, path, headers: wrong, body: audio).status == 400)
            let large = signer.sign(
                "PUT", path, at: now, extra: [("x-amz-meta-note", String(repeating: "m", count: 2048))])
            for query in ["", "?partNumber=1&uploadId=none"] {
                let refused = try await anonymous.send(
                    .put, path + query,
                    headers: query.isEmpty
                        ? large : signer.sign("PUT", path, query: String(query.dropFirst()), at: now),
                    body: audio)
                #expect(refused.text.contains(query.isEmpty ? "MetadataTooLarge" : "NoSuchUpload"))
                #expect(try server.objectFiles().isEmpty)
            }
            for _ in 0..<3 {
                _ = try await anonymous.send(.put, path, headers: signer.sign("PUT", path, at: now), body: audio)
            }
            #expect(try server.objectFiles().count == 1)
        }
    }

    @Test("a multipart upload that is not completed is removed with its files after a week")
    func abandonedUpload() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let signer = try await client.signer()
            let begun = try await client.send(
                .post, "/b/k?uploads=", headers: signer.sign("POST", "/b/k", query: "uploads=", at: manual.now))
            let id = try #require(begun.text.firstMatch(of: /<UploadId>(.*)<\/UploadId>/)?.output.1)
            let query = "partNumber=1&uploadId=\(id)"
            let part = try await client.send(
                .put, "/b/k?\(query)", headers: signer.sign("PUT", "/b/k", query: query, at: manual.now),
                body: Data("part".utf8))
            #expect(part.status == 200)
            #expect(try server.objectFiles().count == 1)
            try await manual.waitFor(.sweep)
            manual.advance(by: .seconds(6 * 86_400))
            try await manual.waitFor(.sweep)
            #expect(try server.objectFiles().count == 1)
            manual.advance(by: .seconds(86_400 + 3600))
            try await manual.waitFor(.sweep)
            #expect(try server.objectFiles().isEmpty)
        }
    }
}
