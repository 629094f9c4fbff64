import Basics
import Foundation
import HTTPTypes
import ScribeHTTP
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

/// `POST /__admin/seed`: what it adds, and what it refuses.
struct SeedTests {
    private static let seed = #"""
        {"clients":[{"client_id":"clinic","client_secret":"secret-1","business_id":"b-clinic","api_keys":["clinic-key"]}],
         "users":[{"partner_id":"demo-partner","provider_id":"dr-rao","provider_org_id":"demo-org"}],
         "templates":[{"client_id":"clinic","template_id":"follow-up","title":"Follow-up","section_ids":["plan"],
                       "sections":[{"section_id":"home-care","title":"Home care","format":"B"}]}],
         "consultations":[{"client_id":"clinic","txn_id":"visit-1","template_ids":["follow-up"],
                           "transcript":"Doctor: What brings you in?\nPatient: I have had a cough for three days.",
                           "patient_details":{"username":"Asha"}}]}
        """#

    private static func server(ephemeral: Bool) throws -> TestServer {
        var server = try TestServer()
        server.configuration.isEphemeral = ephemeral
        server.configuration.allowsReset = true
        return server
    }

    @Test(
        "a seed's clients, users, templates and transactions exist at once, also after a second seed",
        arguments: Transport.allCases)
    func added(transport: Transport) async throws {
        try await TestServer().run(transport) { client in
            for _ in 0..<2 {
                let answer = try await client.post("/__admin/seed", Self.seed)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try answer["clients.0"] == "clinic")
                #expect(try answer["users.0"] == "dr-rao")
                #expect(try answer["templates.0"] == "follow-up")
                #expect(try answer["consultations.0.status"] == "success")
            }
            let own = try await client.login("clinic", "secret-1")
            let status = try await own.status("visit-1")
            #expect(status.status == 200)
            let note = try #require(Data(base64Encoded: try status["data.output.0.value"]))
            #expect(String(decoding: note, as: UTF8.self).localizedCaseInsensitiveContains("cough"))
            #expect(try await own.get("/voice/api/v1/template").text.contains("Follow-up"))
            #expect(try await own.get("/voice/api/v2/transaction/history").text.contains("visit-1"))
            let listen = try await client.post(
                "/v1/auth/grant", "{}", headers: [.authorization: "Token clinic-key"])
            #expect(listen.status == 200, "\(listen.text)")
        }
    }

    @Test("a seed of one namespace is in no other, and a reset removes it", arguments: [true, false])
    func namespace(ephemeral: Bool) async throws {
        try await Self.server(ephemeral: ephemeral).run { client in
            _ = try await client.namespace("a")
            #expect(try await client.post("/__admin/seed?namespace=a", Self.seed).status == 200)
            let login = #"{"client_id":"clinic","client_secret":"secret-1"}"#
            let path = "/connect-auth/v1/account/login"
            #expect(try await client.post(path, login).status == 401)
            #expect(try await client.post("/ns/a\(path)", login).status == 200)
            #expect(try await client.post("/__admin/reset?namespace=a", "{}").status == 200)
            #expect(try await client.post("/ns/a\(path)", login).status == 401)
            #expect(try await client.post("/__admin/seed", Self.seed).status == 200)
            #expect(try await client.post(path, login).status == 200)
            #expect(try await client.post("/__admin/reset", "{}").status == 200)
            #expect(try await client.post(path, login).status == 401)
        }
    }

    @Test("seeded clients survive a restart, and the clients file changes only its own clients")
    func restart() async throws {
        var server = try TestServer()
        let file = "\(server.folder.path)/clients.yaml"
        try "clients: [{client_id: filed, client_secret: s-1, business_id: b, user_id: u, doctor_id: d}]"
            .write(toFile: file, atomically: true, encoding: .utf8)
        server.configuration.clientsFile = file
        try await server.run { client in
            #expect(try await client.post("/__admin/seed", Self.seed).status == 200)
            for (id, code) in [("filed", "client_exists"), ("dev-client", "client_exists")] {
                let answer = try await client.post(
                    "/__admin/seed", #"{"clients":[{"client_id":"\#(id)","client_secret":"x"}]}"#)
                #expect(answer.status == 409)
                #expect(try answer["code"] == code)
            }
            _ = try await client.login("filed", "s-1")
        }
        try await server.run { [manual = server.manual] client in
            _ = try await client.login("clinic", "secret-1")
            try "clients: [{client_id: other, client_secret: s-2, business_id: b, user_id: u, doctor_id: d}]"
                .write(toFile: file, atomically: true, encoding: .utf8)
            for _ in 0..<3 {
                try await manual.waitFor(.clientsFile)
                manual.advance(by: .seconds(2))
            }
            try await manual.waitFor(.clientsFile)
            _ = try await client.login("other", "s-2")
            _ = try await client.login("clinic", "secret-1")
            let login = #"{"client_id":"filed","client_secret":"s-1"}"#
            #expect(try await client.post("/connect-auth/v1/account/login", login).status == 401)
        }
        try "clients: [{client_id: clinic, client_secret: s-2, business_id: b, user_id: u, doctor_id: d}]"
            .write(toFile: file, atomically: true, encoding: .utf8)
        await #expect(throws: StartupProblem.self) { try await server.run { _ in } }
    }

    @Test("a seed with another client's API key is refused and changes nothing")
    func keys() async throws {
        try await TestServer().run { client in
            #expect(try await client.post("/__admin/seed", Self.seed).status == 200)
            let answer = try await client.post(
                "/__admin/seed",
                #"{"clients":[{"client_id":"new","client_secret":"x","api_keys":["clinic-key"]}]}"#)
            #expect(answer.status == 409)
            #expect(try answer["code"] == "key_exists")
            let login = #"{"client_id":"new","client_secret":"x"}"#
            #expect(try await client.post("/connect-auth/v1/account/login", login).status == 401)
        }
    }

    @Test(
        "an invalid seed is refused with the name of the entry, and changes nothing",
        arguments: [
            (#"{"more":1}"#, "more"), (#"{"clients":{}}"#, "clients"), (#"{"clients":[1]}"#, "clients[0]"),
            (#"{"clients":[{"client_id":"a"}]}"#, "clients[0].client_secret"),
            (#"{"clients":[{"client_id":"","client_secret":"x"}]}"#, "clients[0].client_id"),
            (#"{"clients":[{"client_id":"a\u0000","client_secret":"x"}]}"#, "clients[0].client_id"),
            (#"{"clients":[{"client_id":"ns_a_client","client_secret":"x"}]}"#, "clients[0].client_id"),
            (#"{"clients":[{"client_id":"a","client_secret":"x","age":1}]}"#, "clients[0].age"),
            (
                #"{"clients":[{"client_id":"a","client_secret":"x","transaction_limit":-1}]}"#,
                "clients[0].transaction_limit"
            ),
            (#"{"clients":[{"client_id":"a","client_secret":"x","api_keys":["short"]}]}"#, "clients[0].api_keys"),
            (
                #"{"clients":[{"client_id":"a","client_secret":"x"},{"client_id":"a","client_secret":"y"}]}"#,
                "client_id"
            ),
            (#"{"users":[{"partner_id":"nobody","provider_id":"p","provider_org_id":"o"}]}"#, "users[0].partner_id"),
            (
                #"{"users":[{"partner_id":"demo-partner","provider_id":"p","provider_org_id":"o","provider_specialty":"MAGIC"}]}"#,
                "users[0].provider_specialty"
            ),
            (#"{"templates":[{"client_id":"dev-client","title":"x"}]}"#, "templates[0].section_ids"),
            (#"{"templates":[{"client_id":"nobody","title":"x","section_ids":["plan"]}]}"#, "templates[0].client_id"),
            (
                #"{"templates":[{"client_id":"dev-client","title":"x","section_ids":["none"]}]}"#,
                "templates[0].section_ids"
            ),
            (
                #"{"templates":[{"client_id":"dev-client","title":"x","sections":[{"section_id":"s","title":"t","format":"X"}]}]}"#,
                "templates[0].sections[0].format"
            ),
            (#"{"consultations":[{"client_id":"dev-client"}]}"#, "consultations[0].transcript"),
            (
                #"{"consultations":[{"client_id":"dev-client","transcript":"x","txn_id":"a/b"}]}"#,
                "consultations[0].txn_id"
            ),
            (
                #"{"consultations":[{"client_id":"dev-client","transcript":"x","template_ids":["none"]}]}"#,
                "consultations[0].template_ids"
            ),
            (
                #"{"consultations":[{"client_id":"dev-client","transcript":"x","patient_details":[]}]}"#,
                "consultations[0].patient_details"
            ),
        ])
    func badSeeds(body: String, field: String) async throws {
        try await TestServer().run { client in
            let good = #""clients":[{"client_id":"good","client_secret":"x"}]"#
            // Beside something that is right, unless that is what is wrong.
            let sent = body.contains("\"clients\"") ? body : "{\(good),\(body.dropFirst())"
            let answer = try await client.post("/__admin/seed", sent)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(try answer["detail"].contains("'\(field)'"), "\(answer.text)")
            let login = #"{"client_id":"good","client_secret":"x"}"#
            #expect(try await client.post("/connect-auth/v1/account/login", login).status == 401)
        }
    }

    @Test("a seed is stored as a whole or not at all, whatever its last transaction lacks")
    func whole() async throws {
        let server = try TestServer()
        try await server.run { client in
            let seed = #"""
                {"clients":[{"client_id":"few","client_secret":"x","business_id":"b-few","transaction_limit":LIMIT}],
                 "templates":[{"client_id":"few","template_id":"own","title":"Own","section_ids":["plan"]}],
                 "consultations":[{"client_id":"few","txn_id":"v-1","transcript":"I cough.","template_ids":["own"]},
                                  {"client_id":"few","txn_id":"v-2","transcript":"I cough too."}]}
                """#
            let refused = try await client.post("/__admin/seed", seed.replacing("LIMIT", with: "1"))
            #expect(refused.status >= 400 && refused.status < 500, "\(refused.text)")
            let login = #"{"client_id":"few","client_secret":"x"}"#
            #expect(try await client.post("/connect-auth/v1/account/login", login).status == 401)
            #expect(try server.objectFiles().isEmpty)
            let added = try await client.post("/__admin/seed", seed.replacing("LIMIT", with: "2"))
            #expect(added.status == 200, "\(added.text)")
            #expect(try added["consultations.1.status"] == "success")
            let own = try await client.login("few", "x")
            #expect(try await own.status("v-1")["data.output.0.name"] == "Own")
            #expect(try server.objectFiles().count == 2)
        }
    }

    @Test("a seed waits for all of its results together, for twenty seconds at most")
    func wait() async throws {
        let server = try TestServer()
        try await server.run { [manual = server.manual] client in
            let rule = try await client.post(
                "/__admin/faults", #"{"operation":"transcription","delay":"1h","times":3}"#)
            #expect(rule.status < 300, "\(rule.text)")
            let entry = { (number: Int) in #"{"client_id":"dev-client","txn_id":"v-\#(number)","transcript":"x"}"# }
            async let answer = client.post(
                "/__admin/seed", #"{"consultations":[\#((1...3).map(entry).joined(separator: ","))]}"#)
            try await manual.waitFor(.heldPoll)
            manual.advance(by: .seconds(20))
            let seeded = try await answer
            let statuses = try (0..<3).map { try seeded["consultations.\($0).status"] }
            #expect(statuses == ["in-progress", "in-progress", "in-progress"])
        }
    }

    @Test("a seed that is no JSON, or too large, is refused")
    func bodies() async throws {
        try await TestServer().run { client in
            let text = try await client.post("/__admin/seed", "{}", headers: [.contentType: "text/plain"])
            #expect(text.status == 415)
            let long = try await client.post("/__admin/seed", String(repeating: " ", count: 1 << 20 | 1))
            #expect(long.status == 413)
            #expect(try await client.post("/__admin/seed", "{}").status == 200)
        }
    }
}
