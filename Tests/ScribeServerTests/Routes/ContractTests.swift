import Basics
import Control
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ScribeRuntime
import ScribeStore
import ServerTestSupport
import Status
import TestSupport
import Testing
import Yams

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct ContractTests {
    @Test("every route is in the OpenAPI documents, and every documented operation has a route")
    func parity() async throws {
        let server = try TestServer()
        let (emulator, directory, _) = try await open(
            server.configuration,
            .init(clock: server.manual.clock, identifiers: .counting(), logger: Logger(label: "test")))
        defer { try? directory.main.runtime.store.close() }
        let routed = Set(
            emulator.families.compactMap { $0 as? RoutedFamily }.flatMap(\.routes)
                .filter { $0.method != .head }
                .map { "\($0.method) /\($0.path.joined(separator: "/"))" }
        )
        let documented = Set(
            try DocumentedOperation.paths().flatMap { path, item in
                item.keys.filter { ["get", "put", "post", "patch", "delete"].contains($0) }
                    .map { "\($0.uppercased()) \(path)" }
            }
        )
        #expect(routed.symmetricDifference(documented) == [])
    }

    /// Expects an answer to be in the envelope of its family, as the document has it.
    private static func expectMembers(of answer: TestAnswer, _ operation: DocumentedOperation) {
        let members = operation.answerMembers[answer.status]
        #expect(members?.isEmpty == false, "\(operation): \(answer.status) is documented")
        #expect(members?.allSatisfy { answer.json[$0] != nil } == true, "\(operation): \(answer.text)")
    }

    @Test("every secured operation without a token is 401, before its path or body is read", .covers("C-52"))
    func unauthenticated() async throws {
        var server = try TestServer()
        server.configuration.adminToken = "operator"
        try await server.run { client in
            for operation in try DocumentedOperation.all() where operation.isSecured {
                let answer = try await client.send(operation.method, operation.path, body: Data("{".utf8))
                #expect(answer.status == 401, "\(operation)")
                Self.expectMembers(of: answer, operation)
            }
        }
    }

    @Test("every operation answers 413 to a body that is too large and 400 to one that is no JSON")
    func bodies() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login().clinician()
            for operation in try DocumentedOperation.all() where operation.takesBody {
                let limit = operation.path.hasSuffix("/config") ? ConfigRoutes.bodyLimit : Request.jsonBodyLimit
                // Which takes a key only.
                let headers: HTTPFields =
                    operation.path == "/v1/auth/grant" ? [.authorization: "Token org_dev_key"] : [:]
                for (body, status) in [(Data(count: limit + 1), 413), (Data("{".utf8), 400)] {
                    let answer = try await client.send(operation.method, operation.path, headers: headers, body: body)
                    // FastAPI's word for it, which is 422 as it is in the session protocol.
                    let isOfFastAPI = answer.json["detail"] != nil && answer.json["code"] == nil
                    let isOfSessions = operation.path.hasPrefix("/voice/v1/")
                    #expect(
                        answer.status == ((isOfFastAPI || isOfSessions) && status == 400 ? 422 : status),
                        "\(operation)")
                    Self.expectMembers(of: answer, operation)
                }
            }
        }
    }

    @Test("an impossible transaction id in a path is 400 in every operation, and 404 in session operations")
    func identifiers() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login().clinician()
            for (path, item) in try DocumentedOperation.paths() where path.contains("{txn_id}") {
                for method in item.keys.compactMap({ HTTPRequest.Method($0.uppercased()) })
                where [.get, .put, .post, .patch, .delete].contains(method) {
                    let concrete = path.replacing("{txn_id}", with: "a%00b").replacing(/\{[a-z_]+\}/, with: "t")
                    let answer = try await client.send(method, concrete, body: Data("{}".utf8))
                    // As a session's it names none.
                    let isOfSession = path.hasPrefix("/voice/v1/sessions/") || path.hasPrefix("/api/v1/ambient/")
                    #expect(answer.status == (isOfSession ? 404 : 400), "\(method) \(path)")
                }
            }
        }
    }

    @Test(
        "a missing object is answered with its family's status and error code",
        arguments: [
            (HTTPRequest.Method.get, "/voice/api/v2/transaction/nope", "", 404),
            (.patch, "/voice/api/v2/transaction/nope", "{}", 404), (.delete, "/voice/api/v2/transaction/nope", "", 404),
            (.patch, "/voice/api/v3/status/nope", #"[{"document-id":"d","data":"x"}]"#, 404),
            (.post, "/voice/api/v1/transaction/nope/convert-to-template", #"{"template_id":"soap"}"#, 400),
            (.post, "/voice/api/v1/transaction/nope/convert-to-template", "", 400),
            (.post, "/voice/api/v1/transaction/nope/convert-to-template/soap", "", 400),
            (.patch, "/voice/api/v1/sessions/nope/context", #"{"context":{}}"#, 404),
            (.delete, "/voice/api/v1/sessions/nope/context", #"{"context":{}}"#, 404),
            (.get, "/voice/v1/session/nope/suggested-medications", "", 404),
            (.get, "/voice/api/v1/documents?session_id=nope", "", 404), (.get, "/voice/api/v1/documents", "", 400),
            (.get, "/voice/api/v1/documents/nope", "", 404),
            (.post, "/voice/api/v1/documents", #"{"session_id":"nope"}"#, 404),
            (.get, "/voice/api/v1/transaction/nope/feedback", "", 404),
            (.delete, "/voice/api/v1/template/nope", "", 400), (.put, "/voice/api/v1/template/nope", "{}", 400),
            (.patch, "/voice/api/v1/template/section/nope", "{}", 400),
            (.delete, "/voice/api/v1/template/section/nope", "", 400),
            (.delete, "/voice/api/v1/template/section/advice", "", 400),
            (.delete, "/voice/api/v1/template/soap", "", 400), (.get, "/voice-record/api/status/nope", "", 404),
            (.delete, "/notification/v1/connect/webhook/subscriptions/99", "", 404),
            (.delete, "/notification/v1/connect/webhook/subscriptions/nope", "", 400),
            (.delete, "/voice/v1/webhooks/99", "", 404),
        ]
    )
    func unknown(method: HTTPRequest.Method, path: String, body: String, status: Int) async throws {
        try await TestServer().run { anonymous in
            let answer = try await anonymous.login().send(method, path, body: Data(body.utf8))
            #expect(answer.status == status, "\(answer.text)")
            #expect(try answer["error.message"].isEmpty == false)
        }
    }

    @Test(
        "the API documents are served with this version, and the health routes need no token",
        arguments: Transport.allCases
    )
    func health(transport: Transport) async throws {
        try await TestServer().run(transport) { client in
            let document = try await client.get("/openapi.yaml")
            #expect(document.status == 200)
            #expect(document.headers[.contentType] == "application/yaml")
            #expect(document.text.contains("version: \(ScribeVersion.current)"))
            let ambient = try await client.get("/ambient.asyncapi.yaml")
            #expect(ambient.text.contains("asyncapi: 3"))
            let devices = try await client.get("/omi.asyncapi.yaml")
            #expect(devices.text.contains("asyncapi: 3"))
            let sockets = try await client.get("/listen.asyncapi.yaml")
            #expect(sockets.text.contains("asyncapi: 3"))
            #expect(try await client.get("/voice/ping")["ping"] == "pong")
            #expect(try await client.get("/livez").status == 200)
            let ready = try await client.get("/readyz")
            #expect(ready.status == 200)
            #expect(try ready["components.transcriber"] == "fake")
            #expect(try ready["components.database"] == "ready")
            #expect(try await client.send(.head, "/livez").status == 200)
            #expect(try await client.get("/metrics").text.contains("scribe_requests_total"))
            let authority = try await client.get("/ca.pem")
            if transport == .tls {
                #expect(authority.headers[.contentType] == "application/x-x509-ca-cert")
                #expect(authority.text.hasPrefix("-----BEGIN CERTIFICATE-----"))
            } else {
                #expect(authority.status == 404)
            }
        }
    }

    @Test("paths are served with and without a trailing slash, without redirects", .covers("C-58", "C-59"))
    func slashes() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            for path in ["/voice/api/v1/s3-token", "/voice/api/v1/s3-token/", "/credentials", "/credentials/"] {
                let answer = try await client.get(path)
                #expect(answer.status == 200)
                #expect(answer.json["expiry"] == .integer(43_200))
                #expect(try answer["credentials.Expiration"] == "2026-05-10T21:12:33Z")
            }
        }
    }

    @Test("every answer carries a request id")
    func requestIDs() async throws {
        try await TestServer().run { client in
            for path in ["/livez", "/voice/api/v9", "/bucket/key", "/credentials"] {
                let answer = try await client.get(path)
                #expect(answer.headers[.requestID]?.isEmpty == false)
            }
        }
    }
}
