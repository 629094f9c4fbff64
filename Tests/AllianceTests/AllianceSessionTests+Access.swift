import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import ScribeHTTP
@testable import ScribeServer

extension AllianceSessionTests {
    @Test("each process-template call adds one document to the protocol session", .covers("M-52", "M-53", "M-54"))
    func process() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session(#","templates":["soap"]"#)
            let path = "\(TestScribeClient.sessions)/\(id)/process/template"
            let json: HTTPFields = [.contentType: "application/json"]
            let early = try await client.send(.post, path, headers: json)
            #expect(early.status == 400)
            let earlier = try await client.send(.post, "\(path)/soap", headers: json)
            #expect(earlier.status == 400)
            _ = try await client.sendAudio("1.wav", to: id)
            _ = try await client.end(id)
            #expect(try await client.read(id).status == 200)
            var documents: [String] = []
            for more in ["", "/soap", "/clinical_notes_template"] {
                let answer = try await client.send(.post, path + more, headers: json)
                #expect(answer.status == 202)
                #expect(try answer["status"] == "in-progress")
                #expect(try answer["template_id"] == (more.hasSuffix("template") ? "clinical_notes_template" : "soap"))
                documents.append(try answer["document_id"])
            }
            let done = try await client.read(id)
            #expect(done.status == 200)
            guard case .array(let notes)? = done.json["templates"] else { return }
            #expect(notes.count == 4)
            let one = try await client.read(id, "?document_id=\(documents[1])")
            #expect(try one["templates.0.soap.document_id"] == documents[1])
            #expect(one.json["templates"].map { "\($0)".contains("clinical") } == false)
            let chosen = try await client.read(id, "?template_id=soap")
            guard case .array(let soaps)? = chosen.json["templates"] else { return }
            #expect(soaps.count == 3)
            #expect(try one["transcript"] == done["transcript"], "whichever documents are asked for")
            let named = try await client.send(.post, "\(path)/soap?document_id=\(documents[0])")
            #expect(named.status == 202)
            #expect(try await client.send(.post, "\(path)/soap?document_id=nope").status == 404)
            #expect(try await client.send(.post, "\(path)/soap?document_id=\(documents[2])").status == 400)
            for query in ["?template_id=nope", "?document_id=nope"] {
                #expect(try await client.read(id, query).status == 404)
            }
            #expect(try await client.send(.post, "\(path)/nope").status == 404)
            let bare = try await client.session()
            _ = try await client.end(bare)
            let none = try await client.send(.post, "\(TestScribeClient.sessions)/\(bare)/process/template")
            #expect(none.status == 404)
        }
    }

    @Test(
        "every method answers 404 for an unknown protocol session and for another business's", .covers("M-66"),
        arguments: [
            (HTTPRequest.Method.get, "", ""), (.patch, "", #"{"model":"pro"}"#), (.post, "/end", ""),
            (.post, "/audio/1.wav", "audio"), (.post, "/audio", "audio"), (.post, "/process/template", ""),
            (.post, "/process/template/soap", ""),
        ])
    func unknown(method: HTTPRequest.Method, more: String, body: String) async throws {
        try await TestServer().run { anonymous in
            let theirs = try await anonymous.login("dev-client-2", "dev-secret-2").session()
            let client = try await anonymous.login()
            for id in ["ses_00000000000000000000", theirs] {
                let answer = try await client.send(
                    method, "\(TestScribeClient.sessions)/\(id)\(more)", body: Data(body.utf8))
                #expect(answer.status == 404)
                #expect(try answer["error.code"] == "session_not_found")
                #expect(try answer["error.details.session_id"] == id)
            }
        }
    }

    @Test(
        "the session API's tokens last a day, an invalid token is 401, and a jwt-payload header grants nothing",
        .covers("M-01", "M-02", "M-03", "M-04", "M-05", "M-06"))
    func tokens() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        let manual = server.manual
        try await server.run { anonymous in
            let login = try await anonymous.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            #expect(try login["access_token"].isEmpty == false)
            #expect(login.json["expires_in"] == .integer(86_400))
            let wrong = try await anonymous.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"nope"}"#)
            #expect(wrong.status == 401)
            let client = try await anonymous.login()
            let id = try await client.session()
            // Longer than the renewal of the Python SDK would wait.
            manual.advance(by: .seconds(1500))
            #expect(try await client.read(id).status == 202)
            manual.advance(by: .seconds(86_400))
            #expect(try await client.read(id).status == 401)
            #expect(try await anonymous.login().read(id).status == 410)
            let field = try #require(HTTPField.Name("jwt-payload"))
            let forged = try await anonymous.get(
                "\(TestScribeClient.sessions)/\(id)", headers: [field: #"{"b-id":"b-demo"}"#])
            #expect(forged.status == 401)
        }
    }

    @Test("pages of allowed origins may call the session API and read its answers", .covers("M-69"))
    func pages() async throws {
        try await TestServer().run { client in
            let preflight = try await client.send(
                .options, TestScribeClient.sessions,
                headers: [.origin: "http://localhost:3000", .accessControlRequestMethod: "POST"])
            #expect(preflight.headers[.accessControlAllowOrigin] == "http://localhost:3000")
            #expect(preflight.headers[.accessControlAllowCredentials] == "true")
            let answer = try await client.get(
                "\(TestScribeClient.sessions)/nope", headers: [.origin: "http://localhost:3000"])
            #expect(answer.headers[.accessControlExposeHeaders]?.contains("ETag") == true)
            #expect(answer.headers[.accessControlExposeHeaders]?.contains("Retry-After") == true)
            #expect(answer.headers[.accessControlExposeHeaders]?.contains("X-Scribe-Findings") == true)
        }
    }

    @Test("the session API lists templates, the business's own templates first", .covers("M-76"))
    func templates() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let own = try await client.post(
                "/voice/api/v1/template", #"{"title":"Mine","section_ids":["advice"],"desc":"d"}"#)
            let list = try await client.get("/voice/v1/templates")
            #expect(try list["templates.0.id"] == own["template_id"])
            #expect(try list["templates.0.name"] == "Mine")
            let old = try await client.get("/voice/api/v1/template")
            #expect(old.json["items"] != nil && old.json["data"]?["templates"] != nil)
            let id = try await client.session(#","templates":["\#(try own["template_id"])"]"#)
            _ = try await client.sendAudio("1.wav", to: id)
            _ = try await client.end(id)
            #expect(try await client.read(id).status == 200)
            let stranger = try await anonymous.login("dev-client-2", "dev-secret-2")
            let foreign = try await stranger.post(
                TestScribeClient.sessions, #"{"upload_type":"chunked","templates":["\#(try own["template_id"])"]}"#)
            #expect(foreign.status == 400)
        }
    }
}
