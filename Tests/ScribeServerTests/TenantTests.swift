import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct TenantTests {
    @Test(
        "a tenant sees no transaction, history or object of another tenant", .covers("C-51", "C-52"),
        arguments: Transport.allCases)
    func isolation(transport: Transport) async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run(transport) { anonymous in
            let first = try await anonymous.login()
            let second = try await anonymous.login("dev-client-2", "dev-secret-2")
            try await first.consultation("t", at: now)
            #expect(try await first.status("t").status == 200)

            #expect(try await second.status("t").status == 400)
            #expect(try await second.list("stop", "t", []).status == 404)
            #expect(try await second.list("commit", "t", ["1.m4a"]).status == 404)
            #expect(try await second.get("/voice/api/v2/transaction/history").json["retrieved_count"] == .integer(0))
            let path = "/\(TestScribeClient.bucket)/260510/t/1.m4a"
            let theirs = try await second.send(.get, path, headers: second.signer().sign("GET", path, at: now))
            #expect(theirs.status == 404)
            #expect(theirs.text.contains("NoSuchKey"))
        }
    }

    @Test("two tenants use the same id, folder and file names, and each gets its own results")
    func sameNames() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let first = try await anonymous.login()
            let second = try await anonymous.login("dev-client-2", "dev-secret-2")
            try await first.consultation("t", at: now)
            _ = try await second.initialise("t", #","patient_details":{"visit_id":"fixture:follow-up"}"#)
            #expect(try await second.upload("1.m4a", of: "t", TestAudio.wav(seconds: 9), at: now).status == 200)
            _ = try await second.list("commit", "t", ["1.m4a"])
            let results = (try await first.status("t"), try await second.status("t"))
            #expect(results.0.status == 200)
            #expect(results.1.status == 200)
            #expect(try results.0["data.output.0.value"] != results.1["data.output.0.value"])
            for (client, length) in [
                (first, TestAudio.wav(seconds: 2).count), (second, TestAudio.wav(seconds: 9).count),
            ] {
                let path = "/\(TestScribeClient.bucket)/260510/t/1.m4a"
                let object = try await client.send(.get, path, headers: client.signer().sign("GET", path, at: now))
                #expect(object.body.count == length)
            }
        }
    }

    @Test("one tenant's S3 credentials with another's session token are refused")
    func mixedCredentials() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let first = try await anonymous.login().signer()
            let second = try await anonymous.login("dev-client-2", "dev-secret-2").signer()
            let mixed = RequestSigner(
                accessKeyID: first.accessKeyID, secretKey: first.secretKey, sessionToken: second.sessionToken
            )
            let answer = try await anonymous.send(
                .put, "/b/k", headers: mixed.sign("PUT", "/b/k", at: now), body: Data())
            #expect(answer.status == 403)
            #expect(answer.text.contains("InvalidAccessKeyId"))
        }
    }
}
