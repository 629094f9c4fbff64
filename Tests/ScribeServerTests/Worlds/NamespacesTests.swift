import Basics
import Foundation
import HTTPTypes
import ScribeHTTP
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

struct NamespacesTests {
    private static let config = "/voice/api/v2/config/"

    @Test("a namespace is created, listed, read and removed", arguments: Transport.allCases)
    func lifecycle(transport: Transport) async throws {
        try await TestServer().run(transport) { client in
            let made = try await client.namespace("t-1")
            #expect(made.client == "ns_t-1_client")
            #expect(made.key.hasPrefix("ns_t-1_"))
            let unnamed = try await client.post("/__admin/namespaces", "")
            #expect(unnamed.status == 201)
            #expect(try await client.namespaces().count == 2)
            let read = try await client.get("/__admin/namespaces/t-1")
            #expect(try read["path"] == "/ns/t-1")
            #expect(read.json["state"] == .integer(1))
            #expect(read.json["client_secret"] == nil, "secrets are in the first answer only")
            #expect(try await client.send(.delete, "/__admin/namespaces/t-1").status == 204)
            #expect(try await client.get("/__admin/namespaces/t-1").status == 404)
            #expect(try await client.get("/ns/t-1\(Self.config)").status == 404)
            #expect(try await client.send(.delete, "/__admin/namespaces/t-1").status == 404)
            #expect(try await client.namespaces() == [try unnamed["name"]])
        }
    }

    @Test(
        "a call with an invalid body creates no namespace",
        arguments: [
            #"{"name":""}"#, #"{"name":"A"}"#, #"{"name":"a/b"}"#, #"{"name":"a\u0000"}"#, #"{"name":1}"#,
            #"{"name":null}"#, #"{"title":"a"}"#, #"{"name":"a","more":1}"#, "[]", "7", "{",
            #"{"name":"\#(String(repeating: "a", count: 64))"}"#, #"{"name":"a_b"}"#, #"{"name":"é"}"#,
        ])
    func badBodies(body: String) async throws {
        try await TestServer().run { client in
            let answer = try await client.post("/__admin/namespaces", body)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.headers[.contentType] == "application/problem+json")
            #expect(try await client.namespaces().isEmpty)
        }
    }

    @Test("a namespace under a used name, or beyond the limit, is refused")
    func refused() async throws {
        var server = try TestServer()
        server.configuration.namespaces.limit = 2
        try await server.run { client in
            _ = try await client.namespace("a")
            #expect(try await client.post("/__admin/namespaces", #"{"name":"a"}"#).status == 409)
            #expect(try await client.post("/__admin/namespaces", #"{"name":"default"}"#).status == 409)
            _ = try await client.namespace("b")
            let third = try await client.post("/__admin/namespaces", #"{"name":"c"}"#)
            #expect(third.status == 503)
            #expect(try await client.send(.delete, "/__admin/namespaces/a").status == 204)
            _ = try await client.namespace("c")
        }
    }

    @Test(
        "strict authentication allows namespaces only by an explicit setting", arguments: [nil, true, false] as [Bool?])
    func strict(isAllowed: Bool?) async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        server.configuration.namespaces.isAllowed = isAllowed
        server.configuration.adminToken = "operator"
        try await server.run { client in
            let answer = try await client.post(
                "/__admin/namespaces", #"{"name":"a"}"#, headers: [.authorization: "Bearer operator"])
            #expect(answer.status == (isAllowed == true ? 201 : 403))
        }
    }

    @Test(
        "operator calls on namespaces refuse bodies that are no JSON or too large",
        arguments: ["namespaces", "reset?namespace=a"])
    func controlBodies(path: String) async throws {
        try await TestServer().run { client in
            _ = try await client.namespace("a")
            let text = try await client.post("/__admin/\(path)", "{}", headers: [.contentType: "text/plain"])
            #expect(text.status == 415)
            let long = try await client.post("/__admin/\(path)", String(repeating: " ", count: 1 << 20 | 1))
            #expect(long.status == 413)
            #expect(try await client.namespaces() == ["a"])
        }
    }

    @Test(
        "a namespace's reset keeps clients and access tokens, and ends rows and S3 credentials",
        arguments: Transport.allCases)
    func reset(transport: Transport) async throws {
        let server = try TestServer()
        try await server.run(transport) { [now = server.manual.now] client in
            let made = try await client.namespace("a")
            let own = try await client.login(made.client, made.secret)
            let signer = try await own.signer()
            try await own.consultation("t", at: now)
            let answer = try await client.post("/__admin/reset?namespace=a", "{}")
            #expect(answer.status == 200)
            #expect(try answer["namespace"] == "a")
            #expect(answer.json["state"] == .integer(2))
            #expect(try await own.get("/voice/api/v2/transaction/t").status == 404)
            let path = "/\(TestScribeClient.bucket)/260510/t/2.m4a"
            let late = try await client.send(
                .put, path, headers: signer.sign("PUT", path, at: now), body: TestAudio.wav(seconds: 2))
            #expect(late.status == 400)
            #expect(late.text.contains("<Code>ExpiredToken</Code>"))
            try await own.consultation("t", at: now)
            #expect(try await own.get("/voice/api/v2/transaction/t").status == 200)
            #expect(try await client.post("/__admin/reset?namespace=a", #"{"x":1}"#).status == 400)
            #expect(try await client.post("/__admin/reset?namespace=b", "{}").status == 404)
            #expect(try await client.post("/__admin/reset", "{}").status == 409, "the data folder keeps its data")
            #expect(try await client.get("/__admin/namespaces/a").json["state"] == .integer(2))
        }
    }

    @Test("an idle namespace is removed, and one with requests stays")
    func idle() async throws {
        let server = try TestServer()
        try await server.run { [manual = server.manual] client in
            _ = try await client.namespace("a")
            _ = try await client.namespace("b")
            for _ in 0..<5 {
                try await manual.waitFor(.namespaces)
                manual.advance(by: .seconds(900))
                #expect(try await client.get("/ns/b\(Self.config)").status == 401)
            }
            try await manual.waitFor(.namespaces)
            #expect(try await client.namespaces() == ["b"])
            #expect(try await client.get("/ns/a\(Self.config)").status == 404)
        }
    }
}
