import Basics
import Foundation
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer
@testable import Suki

struct AmbientWebhookTests {
    /// One whose partner is told.
    private func server(_ webhook: String) throws -> TestServer {
        var server = try TestServer.ambient()
        let file = "\(server.folder.path)/clients.yaml"
        try """
        clients:
          - { client_id: c, client_secret: secret-of-c, business_id: b, user_id: u, doctor_id: o }
        partners:
          - { partner_id: clinic, client_id: c, webhook: \(webhook) }
        """.write(toFile: file, atomically: true, encoding: .utf8)
        server.configuration.clientsFile = file
        return server
    }

    private func deliveries(_ client: TestScribeClient) async throws -> [JSONValue] {
        guard case .array(let items)? = try await client.get("/__admin/deliveries").json["deliveries"] else {
            throw ScribeError.resultNotFound
        }
        return items.reversed()
    }

    private func message(_ delivery: JSONValue) throws -> JSONValue {
        let body = try #require(delivery["message"]?["body"]?.stringValue)
        return try JSONDocument(Data(body.utf8)).value
    }

    @Test(
        "a partner's webhook gets the outcome of each of its ambient sessions once, and no others",
        .covers("U-29", "U-32"))
    func events() async throws {
        let server = try server("{ url: inbox, secret: shared }")
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.clinician("dr", of: "clinic")
            let completed = try await client.visit(#"{"encounter_id":"v 1"}"#)
            #expect(try await client.endAmbient(completed).status == 200)
            let skipped = try await client.ambientSession(#"{"encounter_id":"v 1"}"#)
            #expect(try await client.finishAmbient(skipped) == "skipped")
            let failed = try await client.ambientSession(#"{"encounter_id":"fixture:recogniser-down"}"#)
            try #require(try await client.record(failed).status == 200)
            #expect(try await client.finishAmbient(failed) == "failed")
            let cancelled = try await client.ambientSession()
            #expect(try await client.post("\(TestScribeClient.ambient)/\(cancelled)/cancel", "").status == 200)
            let forgotten = try await client.ambientSession()
            // Another's, who tells nobody.
            _ = try await anonymous.clinician().visit()
            var told: [JSONValue] = []
            while told.count < 4 { told = try await deliveries(anonymous) }
            // What was delivered is forgotten some day.
            try await manual.waitFor(.expiry)
            manual.advance(by: .seconds(7 * 86_400 + 60))
            while told.count < 5 {
                told += try await deliveries(anonymous).filter { $0["session_id"] == .string(forgotten) }
            }
            #expect(told.map { $0["session_id"]?.stringValue } == [completed, skipped, failed, cancelled, forgotten])
            #expect(told.map { $0["event"]?.stringValue } == ["success", "failure", "failure", "cancelled", "timeout"])
            let messages = try told.map(message)
            #expect(
                messages.map { $0["status"]?.stringValue } == ["success", "success", "failure", "failure", "failure"])
            #expect(messages[0]["sessions"] == .array([.string(completed)]))
            #expect(messages[1]["sessions"] == .array([.string(completed), .string(skipped)]))
            #expect(messages[1]["additional_info"]?["session_status"] == .string("skipped"))
            guard case .array(let links)? = messages[0]["_links"]?["encounter_content"] else {
                throw ScribeError.resultNotFound
            }
            #expect(links[0]["href"] == .string("/api/v1/ambient/encounter/v%201/content"))
            let later = try await anonymous.clinician("dr", of: "clinic")
            #expect(try await later.get("/api/v1/ambient/encounter/v%201/content").status == 200)
            #expect(
                messages.map { $0["error_code"]?.stringValue } == [
                    nil, nil, "ERROR_CODE_TRANSCRIPTION", "ERROR_CODE_SESSION_CANCELLED", "ERROR_CODE_SESSION_TIMEOUT",
                ])
            #expect(messages[2]["error_detail"] == .string("Error in transcription"))
            #expect(messages.allSatisfy { $0["encounter_id"]?.stringValue?.isEmpty == false })
        }
    }

    @Test("two partners with webhooks cannot share a client, because the client identifies the partner")
    func oneEach() async throws {
        let server = try server("{ url: inbox, secret: shared }")
        let file = try #require(server.configuration.clientsFile)
        let one = try String(contentsOfFile: file, encoding: .utf8)
        let second = "  - { partner_id: second, client_id: c, webhook: { url: inbox, secret: other } }"
        try "\(one)\n\(second)\n".write(toFile: file, atomically: true, encoding: .utf8)
        let problem = await #expect(throws: StartupProblem.self) { try await server.run { _ in } }
        #expect(problem?.description.contains("webhook") == true)
    }

    @Test("a start keeps the configured partner webhooks and removes those no longer configured")
    func configured() async throws {
        let first = try server("{ url: inbox, secret: shared, attempts: 3 }")
        func registered(_ server: TestServer) async throws -> [String] {
            let found = Box<[String]>([])
            try await server.run { client in
                guard case .array(let items)? = try await client.get("/__admin/webhooks").json["webhooks"] else {
                    return
                }
                found.set(items.map { "\($0["webhook_id"]?.scalarText ?? "") \($0["endpoint"]?.stringValue ?? "")" })
            }
            return found.value
        }
        #expect(try await registered(first) == ["1 inbox"])
        #expect(try await registered(first) == ["1 inbox"])
        var second = try server("{ url: 'http://127.0.0.1:18999/', secret: other }")
        second.configuration.dataFolder = first.configuration.dataFolder
        #expect(try await registered(second) == ["2 http://127.0.0.1:18999/"])
        var none = try TestServer()
        none.configuration.dataFolder = first.configuration.dataFolder
        #expect(try await registered(none) == [])
        for wrong in [
            "{ url: 'ftp://x', secret: s }", "{ url: inbox }", "{ url: inbox, secret: s, attempts: 0 }",
            "{ url: inbox, secret: '' }",
        ] {
            await #expect(throws: StartupProblem.self, "\(wrong)") { try await server(wrong).run { _ in } }
        }
    }

    @Test("a partner and its webhook come and go with the clients file of a running server")
    func rereadFile() async throws {
        let server = try server("{ url: inbox, secret: shared }")
        let file = try #require(server.configuration.clientsFile)
        let listed = try String(contentsOfFile: file, encoding: .utf8)
        let without = try #require(listed.components(separatedBy: "partners:").first)
        try without.write(toFile: file, atomically: true, encoding: .utf8)
        try await server.run { [manual = server.manual] anonymous in
            /// Replaces the file, and returns when the server has read it.
            func replace(by text: String) async throws {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                for _ in 0..<2 {
                    try await manual.waitFor(.clientsFile)
                    manual.advance(by: .seconds(2))
                }
                try await manual.waitFor(.clientsFile)
            }
            #expect(try await anonymous.register("dr", of: "clinic").status == 400)
            try await replace(by: listed)
            let client = try await anonymous.clinician("dr", of: "clinic")
            let session = try await client.ambientSession()
            #expect(try await client.finishAmbient(session) == "skipped")
            let told = try await anonymous.delivered(1)
            #expect(told.map { $0["session_id"] } == [.string(session)])
            try await replace(by: without)
            #expect(
                try await client.post("\(TestScribeClient.ambient)/create", "{}").status == 401, "the partner is out")
        }
    }
}
