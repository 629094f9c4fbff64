import Basics
import Foundation
import HTTPTypes
import ScribeRuntime
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct Version1Tests {
    static func form(_ parts: [(name: String, fileName: String?, content: Data)]) -> Data {
        var body = Data()
        for part in parts {
            let file = part.fileName.map { "; filename=\"\($0)\"" } ?? ""
            body += Data("--b\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(file)\r\n\r\n".utf8)
            body += part.content + Data("\r\n".utf8)
        }
        return body + Data("--b--\r\n".utf8)
    }

    static let formType: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]

    @Test("version 1 takes audio in a form, and its status has the FHIR bundle")
    func upload() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.send(
                .post, "/voice/upload?mode=dictation&txnid=t", headers: Self.formType,
                body: Self.form([("file", "a.wav", TestAudio.wav(seconds: 2))]))
            #expect(answer.status == 200)
            #expect(try answer["txn_id"] == "t")
            #expect(try await client.status("t").status == 200)
            let status = try await client.get("/voice-record/api/status/t")
            #expect(try status["status"] == "completed")
            let fhir = try #require(Data(base64Encoded: status["data.output.fhir"]))
            let bundle = try JSONDocument(fhir).value
            #expect(bundle["resourceType"] == .string("Bundle"))
            #expect(bundle["type"] == .string("document"))
            let retrieved = try await client.get("/health/api/v1/fhir/retrieve?identifier=t")
            #expect(retrieved.json == bundle)
            #expect(try await client.get("/health/api/v1/fhir/retrieve?identifier=u").status == 404)
            #expect(try await client.get("/health/api/v1/fhir/retrieve").status == 400)
        }
    }

    @Test(
        "a version 1 upload without a valid form and a file is refused",
        arguments: [form([("mode", nil, Data())]), Data("--b\r\n".utf8), Data()])
    func malformed(body: Data) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.send(.post, "/voice/upload?txnid=t", headers: Self.formType, body: body)
            #expect(answer.status == 400)
            #expect(try await client.get("/voice-record/api/status/t").status == 404)
        }
    }

    @Test("a version 1 upload under an id in use is 409, and a form that is too long is 413")
    func limits() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let form = Self.form([("file", "a.wav", TestAudio.wav(seconds: 1))])
            for status in [200, 409] {
                let answer = try await client.send(.post, "/voice/upload?txnid=t", headers: Self.formType, body: form)
                #expect(answer.status == status)
            }
            let long = Self.form([("file", "a.wav", Data(count: 33 << 20))])
            let answer = try await client.send(.post, "/voice/upload", headers: Self.formType, body: long)
            #expect(answer.status == 413)
        }
    }

    @Test("the version 1 status has its own words for the states of a transaction")
    func words() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            func word(_ id: String) async throws -> String? {
                try await client.get("/voice-record/api/status/\(id)")["status"]
            }
            _ = try await client.initialise("t")
            #expect(try await word("t") == "queued")
            _ = try await client.send(
                .patch, "/voice/api/v2/transaction/t", body: Data(#"{"processing_status":"cancelled"}"#.utf8))
            #expect(try await word("t") == "deleted")
            for (fixture, expected) in [("no-speech", "error"), ("partial", "partial_completed")] {
                try await client.consultation(
                    fixture, #","patient_details":{"visit_id":"fixture:\#(fixture)"}"#, at: now)
                _ = try await client.status(fixture)
                #expect(try await word(fixture) == expected)
            }
        }
    }

    @Test("whoami names the user and the business of the token")
    func whoAmI() async throws {
        try await TestServer().run { anonymous in
            #expect(try await anonymous.get("/connect-auth/v1/account/whoami").status == 401)
            let answer = try await anonymous.login().get("/connect-auth/v1/account/whoami")
            #expect(try answer["uuid"] == "u-demo")
            #expect(try answer["workspace_id"] == "b-demo")
        }
    }

    @Test("a drafted template has the sections that the instruction names, from JSON or from a form")
    func drafts() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let path = "/voice/api/v1/template/ai-create-template"
            let draft = try await client.post(path, #"{"instruction":"Only allergies, please"}"#)
            #expect(draft.status == 200)
            #expect(try draft["sections.0.id"] == "allergies")
            #expect(!draft.has("sections.1.id"))
            let file = Self.form([("file", "x.txt", Data("Advice\nfor home".utf8))])
            let formed = try await client.send(.post, path, headers: Self.formType, body: file)
            #expect(try formed["title"] == "Advice")
            for binary in [Data([0, 1, 0xFF, 0xFE]), Data("%PDF-1.4\n1 0 obj".utf8), Data([7, 7])] {
                let form = Self.form([("file", "x", binary)])
                let title = try await client.send(.post, path, headers: Self.formType, body: form)["title"]
                #expect(title == "File", "a title that a template may have")
            }
            for body in ["{}", #"{"instruction":" "}"#, #"{"file_base64":"?"}"#] {
                #expect(try await client.post(path, body).status == 400)
            }
        }
    }
}

struct LongDraftTests {
    @Test("a long example is decoded off the event loops, from JSON and from a form")
    func longExamples() async throws {
        // With `SCRIBE_TRAP_ON_EVENT_LOOP` an event loop that works on one ends the process.
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let path = "/voice/api/v1/template/ai-create-template"
            let example = Data("Advice for home\n".utf8 + Array(repeating: UInt8(ascii: "x"), count: 700_000))
            let encoded = example.base64EncodedString()
            let long = String(repeating: "y", count: 900_000)
            for body in [#"{"content":"\#(long)"}"#, #"{"file_base64":"\#(encoded)"}"#] {
                #expect(try await client.post(path, body).status == 200)
            }
            for (name, content) in [("file", example), ("file_base64", Data(encoded.utf8)), ("content", example)] {
                let form = Version1Tests.form([(name, "x.txt", content)])
                let draft = try await client.send(.post, path, headers: Version1Tests.formType, body: form)
                #expect(draft.status == 200)
            }
        }
    }
}

struct StrictDocsTests {
    func server() throws -> TestServer {
        var server = try TestServer()
        server.configuration.eka.isStrict = true
        return server
    }

    static let init1 =
        #"{"transfer":"vaded","mode":"dictation","s3_url":"s3://b/260510/t","batch_s3_url":"s3://b/x","#
        + #""client_generated_files":[]}"#

    @Test("in documented mode init requires every documented field and is not replayed")
    func initialise() async throws {
        try await server().run { anonymous in
            let client = try await anonymous.login()
            #expect(try await client.initialise("t").status == 400)
            let path = "/voice/api/v2/transaction/init/t"
            #expect(try await client.post(path, Self.init1).status == 201)
            #expect(try await client.post(path, Self.init1).status == 409)
        }
    }

    @Test("in documented mode a waiting poll has empty lists, and a result fails after 120 s for every client")
    func status() async throws {
        var server = try server()
        server.configuration.jobs.objectWait = .seconds(1000)
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.post("/voice/api/v2/transaction/init/t", Self.init1)
            async let first = client.status("t", headers: [.flavour: "io"])
            try await manual.waitFor(.heldPoll)
            manual.advance(by: .seconds(14))
            let waiting = try await first
            #expect(waiting.status == 202)
            #expect(waiting.json["data"]?["output"] == .array([]))
            _ = try await client.list("commit", "t", ["1.m4a"])
            try await manual.waitFor(.jobRunner)
            manual.advance(by: .seconds(121))
            async let late = client.status("t", headers: [.flavour: "ScribeIOS"])
            try await manual.waitFor(.heldPoll)
            manual.advance(by: .seconds(14))
            let failed = try await late
            #expect(failed.status == 500)
            #expect(try failed["data.output.0.status"] == "failure")
            #expect(try failed["data.output.0.errors.0"] == "The result took too long")
        }
    }

    @Test("in documented mode file-upload requires a transaction id and the documented action")
    func fileUpload() async throws {
        try await server().run { anonymous in
            let client = try await anonymous.login()
            #expect(try await client.post("/v1/file-upload?action=ekascribe-v2", "").status == 400)
            #expect(try await client.post("/v1/file-upload?action=default&txn_id=t", "").status == 400)
            #expect(try await client.post("/v1/file-upload?action=ekascribe-v2&txn_id=t", "").status == 200)
        }
    }

    @Test("in documented mode the configuration is flat for every client")
    func config() async throws {
        try await server().run { anonymous in
            let answer = try await anonymous.login().get("/voice/api/v2/config", headers: [.flavour: "ScribeIOS"])
            #expect(try answer["data.supported_languages.0.id"] == "en-IN")
        }
    }
}

struct ClientProfileTests {
    @Test("the client-profiles setting gives a client id a profile, by header or by token")
    func overrides() async throws {
        var server = try TestServer()
        server.configuration.eka.clientProfiles = ["my-app": .ios, "dev-client-2": .legacyIOS]
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let nested = try await client.get("/voice/api/v2/config", headers: [.clientID: "my-app"])
            #expect(try nested["data.supported_languages.items.0.id"] == "en-IN")
            let flat = try await client.get("/voice/api/v2/config", headers: [.clientID: "other"])
            #expect(try flat["data.supported_languages.0.id"] == "en-IN")
            let legacy = try await anonymous.login("dev-client-2", "dev-secret-2")
            let answer = try await legacy.send(
                .put, "/voice/api/v2/config", body: Data(#"{"request_type":"user","data":{}}"#.utf8))
            #expect(answer.json.stringValue != nil)
        }
    }

    @Test(
        "a fixture makes the step that it names fail: init, upload, stop or commit",
        arguments: ["init", "upload", "stop", "commit"])
    func refusals(step: String) async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let hint = #","patient_details":{"visit_id":"fixture:\#(step)-refused"}"#
            #expect(try await client.initialise("t", hint).status == (step == "init" ? 500 : 201))
            guard step != "init" else { return }
            #expect(try await client.upload("1.m4a", of: "t", at: now).status == (step == "upload" ? 503 : 200))
            #expect(try await client.list("stop", "t", ["1.m4a"]).status == (step == "stop" ? 500 : 200))
            #expect(try await client.list("commit", "t", ["1.m4a"]).status == (step == "commit" ? 500 : 200))
        }
    }

    @Test("the lifetimes of access tokens and upload credentials are configurable")
    func lifetimes() async throws {
        var server = try TestServer()
        server.configuration.eka.lifetimes.accessToken = 60
        server.configuration.eka.lifetimes.uploadCredentials = 120
        try await server.run { anonymous in
            let login = try await anonymous.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            #expect(login.json["expires_in"] == .integer(60))
            #expect(try await anonymous.login().get("/credentials").json["expiry"] == .integer(120))
        }
    }
}
