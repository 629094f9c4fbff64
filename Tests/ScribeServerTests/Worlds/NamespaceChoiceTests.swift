import Foundation
import HTTPTypes
import ScribeHTTP
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

struct NamespaceChoiceTests {
    private static let config = "/voice/api/v2/config/"

    @Test("a path prefix, a header or a credential chooses the namespace, whose data is nowhere else")
    func ways() async throws {
        let server = try TestServer()
        try await server.run { [now = server.manual.now] client in
            let made = try await client.namespace("a")
            _ = try await client.namespace("b")
            let own = try await client.login(made.client, made.secret)
            try await own.consultation("by-token", at: now)
            var header = try await client.login()
            header.headers[.scribeNamespace] = "a"
            #expect(try await header.get(Self.config).status == 401, "a token of the default world")
            header.headers[.authorization] = nil
            header = try await header.login()
            try await header.consultation("by-header", at: now)
            let login = try await client.post(
                "/ns/a/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            let prefixed: HTTPFields = [.authorization: "Bearer \(try login["access_token"])"]
            #expect(try await client.get("/ns/a/voice/api/v2/transaction/by-header", headers: prefixed).status == 200)
            #expect(try await client.get("/voice/api/v2/transaction/by-header", headers: prefixed).status == 200)
            #expect(try await own.get("/voice/api/v2/transaction/by-token").status == 200)
            #expect(try await own.get("/voice/api/v2/transaction/by-header").status == 404, "of another business")
            let other = try await client.login()
            #expect(try await other.get("/voice/api/v2/transaction/by-token").status == 404)
            #expect(try await other.get("/voice/api/v2/transaction/by-header").status == 404)
            let third = try await client.post(
                "/ns/b/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            let ofThird: HTTPFields = [.authorization: "Bearer \(try third["access_token"])"]
            #expect(try await client.get("/ns/b/voice/api/v2/transaction/by-header", headers: ofThird).status == 404)
        }
    }

    @Test("contradicting namespaces are 401 and an unknown namespace is 404, in the family's envelope")
    func disagreement() async throws {
        try await TestServer().run { client in
            let made = try await client.namespace("a")
            _ = try await client.namespace("b")
            let own = try await client.login(made.client, made.secret)
            for path in [Self.config, "/voice/v1/sessions/x"] {
                #expect(try await own.get("/ns/b\(path)").status == 401)
                #expect(try await own.get(path, headers: [.scribeNamespace: "b"]).status == 401)
                #expect(try await own.get("/ns/a\(path)", headers: [.scribeNamespace: "b"]).status == 401)
                #expect(try await own.get("/ns/none\(path)").status == 404)
                #expect(try await own.get("/ns/A\(path)").status == 404)
                #expect(try await own.get(path, headers: [.scribeNamespace: "none"]).status == 404)
            }
            let key: HTTPFields = [.authorization: "Token \(made.key)"]
            #expect(try await client.post("/ns/b/v1/auth/grant", "{}", headers: key).status == 401)
            #expect(try await client.post("/v1/auth/grant", "{}", headers: key).status == 200)
            let login = #"{"client_id":"\#(made.client)","client_secret":"\#(made.secret)"}"#
            #expect(try await client.post("/ns/b/connect-auth/v1/account/login", login).status == 401)
            let s3 = try await client.send(.put, "/ns/none/bucket/key", body: Data("x".utf8))
            #expect(s3.status == 404)
            #expect(s3.text.contains("<Code>NoSuchBucket</Code>"))
            #expect(try await client.send(.delete, "/__admin/namespaces/a").status == 204)
            #expect(try await own.get(Self.config).status == 401, "the namespace of the token is gone")
            #expect(try await client.post("/connect-auth/v1/account/login", login).status == 401)
        }
    }

    @Test(
        "the server's own routes are 404 below a namespace's path prefix",
        arguments: [
            "/__admin/info", "/__console", "/metrics", "/readyz", "/livez", "/openapi.yaml", "/health", "/docs",
        ])
    func ownRoutes(path: String) async throws {
        try await TestServer().run { client in
            _ = try await client.namespace("a")
            #expect(try await client.get("/ns/a\(path)").status == 404)
            #expect(try await client.get("/ns/none\(path)").status == 404)
        }
    }

    @Test("a page's request with a namespace header needs a token of that namespace")
    func pages() async throws {
        var server = try TestServer()
        server.configuration.authMode = .open
        try await server.run { client in
            let made = try await client.namespace("a")
            let own = try await client.login(made.client, made.secret)
            let page: HTTPFields = [.origin: "http://localhost:3000", .scribeNamespace: "a"]
            #expect(try await client.get(Self.config, headers: [.scribeNamespace: "a"]).status == 200)
            #expect(try await client.get(Self.config, headers: page).status == 401)
            #expect(try await own.get(Self.config, headers: page).status == 200)
            let preflight = try await client.send(
                .options, Self.config,
                headers: [.origin: "http://localhost:3000", .accessControlRequestMethod: "GET"])
            #expect(preflight.headers[.accessControlAllowHeaders]?.contains("x-scribe-namespace") == true)
        }
    }

    @Test("operator calls choose the namespace by header or query, and need the operator token to see it")
    func control() async throws {
        var server = try TestServer()
        server.configuration.adminToken = "operator"
        try await server.run { client in
            let token: HTTPFields = [.authorization: "Bearer operator"]
            var admin = client
            admin.headers = token
            _ = try await admin.namespace("a")
            for path in ["/__admin/info?namespace=a", "/__admin/webhooks?namespace=default"] {
                #expect(try await admin.get(path).status == 200)
            }
            #expect(try await admin.get("/__admin/info", headers: [.scribeNamespace: "a"]).status == 200)
            _ = try await admin.namespace("c")
            #expect(try await admin.get("/__admin/info?namespace=c", headers: [.scribeNamespace: "a"]).status == 409)
            #expect(try await admin.send(.delete, "/__admin/namespaces/c").status == 204)
            #expect(try await admin.get("/__admin/info?namespace=b").status == 404)
            #expect(try await client.get("/__admin/info?namespace=b").status == 401)
            #expect(try await client.get("/__admin/info?namespace=a").status == 401)
            #expect(try await client.post("/__admin/namespaces", #"{"name":"c"}"#).status == 401)
            #expect(try await client.post("/__admin/reset?namespace=a", "{}").status == 401)
            #expect(try await admin.namespaces() == ["a"])
        }
    }

    @Test("every operator call refuses an unknown namespace and two different ones")
    func everyCall() async throws {
        try await TestServer().run { client in
            for name in ["a", "b"] { _ = try await client.namespace(name) }
            let calls: [(HTTPRequest.Method, String)] = [
                (.get, "info"), (.get, "openapi.yaml"), (.get, "webhooks"), (.post, "webhooks/1/test"),
                (.post, "webhooks"), (.patch, "webhooks/1"), (.delete, "webhooks/1"),
                (.get, "deliveries"), (.get, "deliveries/1"), (.post, "deliveries/1/replay"),
                (.post, "deliveries/replay"), (.post, "reset"), (.post, "seed"), (.get, "snapshots"), (.get, "clock"),
                (.put, "clock"), (.post, "clock/advance"),
                (.get, "snapshots/s"), (.put, "snapshots/s"), (.delete, "snapshots/s"),
                (.post, "snapshots/s/restore"), (.get, "snapshots/s/content"), (.put, "snapshots/s/content"),
                (.get, "faults"), (.post, "faults"), (.delete, "faults"), (.post, "faults/next"),
                (.patch, "faults/f"), (.delete, "faults/f"), (.get, "operations"), (.get, "fixtures"),
                (.delete, "fixtures"), (.get, "fixtures/f"), (.put, "fixtures/f"), (.delete, "fixtures/f"),
                (.get, "transactions/t"), (.delete, "transactions/t"), (.post, "transactions/t/commit"),
                (.post, "transactions/t/cancel"), (.post, "transactions/t/fail"),
                (.post, "transactions/t/complete"), (.post, "transactions/t/wait"), (.get, "objects"),
                (.get, "objects/1"), (.post, "webhooks/trigger"), (.get, "requests"),
                (.delete, "requests"), (.get, "requests/unmatched"), (.get, "requests/stream"),
                (.get, "requests/export"), (.get, "requests/wait"), (.post, "requests/wait"),
                (.post, "requests/find"), (.post, "requests/count"), (.post, "requests/verify"),
                (.get, "requests/1"), (.get, "requests/1/recording"), (.get, "playbacks"), (.post, "playbacks"),
                (.delete, "playbacks"), (.delete, "playbacks/p"),
            ]
            for (method, path) in calls {
                let archive: HTTPFields =
                    path.hasSuffix("content") && method == .put
                    ? [.contentType: "application/octet-stream"]
                    : path == "playbacks" && method == .post ? [.contentType: "application/x-ndjson"] : [:]
                let unknown = try await client.send(method, "/__admin/\(path)?namespace=none", headers: archive)
                #expect(unknown.status == 404, "\(path)")
                #expect(try unknown["code"] == "not_found")
                let differing = try await client.send(
                    method, "/__admin/\(path)?namespace=a", headers: [.scribeNamespace: "b"] + archive)
                #expect(differing.status == 409, "\(path)")
                #expect(try differing["code"] == "namespaces_differ")
            }
            #expect(try await client.namespaces() == ["a", "b"])
        }
    }

    @Test("a refresh token, a device code and a partner id lead to their namespace")
    func bodies() async throws {
        try await TestServer().run { client in
            let made = try await client.namespace("a")
            let login = try await client.post(
                "/connect-auth/v1/account/login",
                #"{"client_id":"\#(made.client)","client_secret":"\#(made.secret)"}"#)
            let refresh: String = try login["refresh_token"]
            #expect(refresh.hasPrefix("ns_a_"))
            let refreshed = try await client.post(
                "/connect-auth/v1/account/refresh", #"{"refresh_token":"\#(refresh)"}"#)
            #expect(refreshed.status == 200)
            #expect(try refreshed["refresh_token"].hasPrefix("ns_a_"))
            let code = try await client.post("/ns/a/connect-auth/v1/device/code", "{}")
            #expect(try code["verification_uri"].hasSuffix("/ns/a/auth/activate"))
            let device: String = try code["device_code"]
            let redeemed = try await client.post(
                "/connect-auth/v1/device/token", #"{"device_code":"\#(device)"}"#)
            #expect(redeemed.status == 200)
            let clinician = try await client.clinician(of: made.partner)
            let session = try await clinician.ambientSession()
            #expect(try await clinician.ambientStatus(session) == "created")
            #expect(try await client.clinician().ambient(session, "status").status == 404)
        }
    }

    @Test(
        "links for a client under a namespace's path prefix have the prefix, also with a public URL",
        arguments: [nil, "https://scribe.example"])
    func links(publicURL: String?) async throws {
        var server = try TestServer()
        server.configuration.publicURL = publicURL
        try await server.run { client in
            _ = try await client.namespace("a")
            let discovery = try await client.get("/ns/a/voice/v1/.well-known/medscribealliance")
            #expect(discovery.status == 200)
            #expect(discovery.text.contains("\(publicURL ?? "http://localhost")/ns/a/voice/v1"))
            let token = try await client.post(
                "/ns/a/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            let headers: HTTPFields = [.authorization: "Bearer \(try token["access_token"])"]
            let session = try await client.post(
                "/ns/a/voice/v1/sessions",
                #"{"upload_type":"stream","communication_protocol":"websocket","templates":["soap"]}"#,
                headers: headers)
            try #require(session.status == 201, "\(session.text)")
            #expect(try session["upload_url"].contains("/ns/a/voice/v1/stream/sessions/ns_a_"))
        }
    }
}
