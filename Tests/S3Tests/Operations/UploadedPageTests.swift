import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// What clients upload is no page of this server's, whatever they call it.
struct UploadedPageTests {
    private static let sandbox = "sandbox; default-src 'none'; media-src 'self'; img-src 'self'"

    private func put(
        _ type: String?, disposition: String? = nil, as path: String = "/b/k", _ client: TestScribeClient, at now: Date
    ) async throws -> RequestSigner {
        let signer = try await client.signer()
        var headers = signer.sign("PUT", path, at: now)
        headers[.contentType] = type
        headers[.contentDisposition] = disposition
        let answer = try await client.send(.put, path, headers: headers, body: Data("<script>alert(1)</script>".utf8))
        #expect(answer.status == 200)
        return signer
    }

    @Test(
        "an object opened by a presigned link is sandboxed, and downloaded unless it is audio or a picture",
        arguments: [
            ("text/html", "attachment"), (nil, "attachment"), ("image/svg+xml", "attachment"),
            ("application/pdf", "attachment"),
            ("audio/wav", nil), ("audio/mpeg; charset=x", nil), ("AUDIO/MP4", nil), ("image/png", nil),
            ("image/jpeg", nil),
            ("image/webp", nil), ("video/webm", "attachment"), ("text/html; audio/wav", "attachment"),
        ] as [(String?, String?)])
    func links(type: String?, disposition: String?) async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let signer = try await put(type, client, at: now)
            for method in [HTTPRequest.Method.get, .head] {
                let link = signer.presign(method.rawValue, "/b/k", at: now)
                let answer = try await anonymous.send(method, link)
                #expect(answer.status == 200)
                #expect(answer.headers[.contentTypeOptions] == "nosniff")
                #expect(answer.headers[.contentSecurityPolicy] == Self.sandbox)
                #expect(answer.headers[.contentDisposition] == disposition)
                let part = try await anonymous.send(method, link, headers: [.range: "bytes=0-3", .origin: "null"])
                #expect(part.status == 206)
                #expect(part.headers[.contentSecurityPolicy] == Self.sandbox)
                #expect(part.headers[.accessControlAllowOrigin] == "null", "a player in the sandbox asks by no origin")
                #expect(part.headers[.accessControlAllowCredentials] == nil)
            }
        }
    }

    @Test("an object read with a signed header has its stored type, without a sandbox")
    func headers() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let signer = try await put("text/html", client, at: now)
            let answer = try await anonymous.get("/b/k", headers: signer.sign("GET", "/b/k", at: now))
            #expect(answer.headers[.contentTypeOptions] == "nosniff")
            #expect(answer.headers[.contentSecurityPolicy] == nil)
            #expect(answer.headers[.contentDisposition] == nil)
            #expect(answer.headers[.contentType] == "text/html")
        }
    }

    @Test("an upload or a signed query sets an object's disposition, and a link keeps the sandbox")
    func dispositions() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let signer = try await put("text/html", disposition: "inline", client, at: now)
            let stored = try await anonymous.get(signer.presign("GET", "/b/k", at: now))
            #expect(stored.headers[.contentDisposition] == "inline")
            #expect(stored.headers[.contentSecurityPolicy] == Self.sandbox)
            let byHeader = try await anonymous.get("/b/k", headers: signer.sign("GET", "/b/k", at: now))
            #expect(byHeader.headers[.contentDisposition] == "inline", "as S3 gives back what it was given")

            let query =
                "response-content-disposition=attachment%3B%20filename%3D%22a.txt%22&response-content-type=text%2Fplain"
            let asked = try await anonymous.get(
                "/b/k?\(query)", headers: signer.sign("GET", "/b/k", query: query, at: now))
            #expect(asked.headers[.contentDisposition] == #"attachment; filename="a.txt""#)
            #expect(asked.headers[.contentType] == "text/plain")

            let create = signer.sign("POST", "/b/parts", query: "uploads=", at: now) + [.contentDisposition: "inline"]
            let begun = try await anonymous.send(.post, "/b/parts?uploads=", headers: create)
            let id = try #require(begun.text.split(separator: "UploadId>").dropFirst().first?.prefix { $0 != "<" })
            let part = "partNumber=1&uploadId=\(id)"
            let sent = try await anonymous.send(
                .put, "/b/parts?\(part)", headers: signer.sign("PUT", "/b/parts", query: part, at: now),
                body: Data("x".utf8))
            let list =
                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\(sent.headers[.eTag] ?? "")</ETag></Part></CompleteMultipartUpload>"
            let completed = try await anonymous.send(
                .post, "/b/parts?uploadId=\(id)",
                headers: signer.sign("POST", "/b/parts", query: "uploadId=\(id)", at: now), body: Data(list.utf8))
            #expect(completed.status == 200, "\(completed.text)")
            let joined = try await anonymous.get(signer.presign("GET", "/b/parts", at: now))
            #expect(joined.headers[.contentDisposition] == "inline")
        }
    }
}
