import Foundation
import HTTPTypes
import ScribeDomain
import TestSupport
import Testing

@testable import Eka
@testable import ScribeHTTP
@testable import ScribeServer

struct AllianceSessionTests {
    @Test(
        "a session is created, uploaded to, ended, and read until it is completed",
        .covers(
            "M-13", "M-14", "M-15", "M-16", "M-24", "M-25", "M-30", "M-37", "M-38", "M-39", "M-41", "M-42", "M-43",
            "M-45", "M-48", "M-51", "M-68"),
        arguments: Transport.allCases)
    func consultation(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.login()
            let created = try await client.post(
                TestScribeClient.sessions, #"{"upload_type":"chunked","templates":["soap"],"session_mode":"dictation"}"#
            )
            #expect(created.status == 201)
            #expect(created.headers[.contentType] == "application/json")
            let id = try created["session_id"]
            #expect(id.hasPrefix("ses_") && id.count == 24)
            #expect(try created["status"] == "created")
            #expect(try created["created_at"] == "2026-05-10T09:12:33Z")
            #expect(try created["expires_at"] == "2026-05-10T10:12:33Z")
            #expect(try created["upload_url"].hasSuffix("/voice/v1/sessions/\(id)/audio"))
            #expect(created.json["storage_provider"] == nil)

            let open = try await client.read(id)
            #expect(open.status == 202)
            #expect(try open["status"] == "initialized")
            #expect(open.json["audio_files_received"] == .integer(0))
            #expect(open.json["templates"] == nil)

            for number in [10, 2, 0] {
                let kept = try await client.sendAudio("chunk_\(number).wav", to: id)
                #expect(kept.status == 200)
                #expect(try kept["session_id"] == id)
                #expect(kept.json["success"] == .bool(true))
                #expect(try kept["original_filename"] == "chunk_\(number).wav")
            }
            let files = JSONValue.array(["0.wav", "2.wav", "10.wav"].map { .string($0) })
            #expect(try await client.read(id).json["audio_files"] == files)

            let ended = try await client.end(id, #"{"audio_files_sent":3,"audio_files_uploaded":3}"#)
            #expect(ended.status == 202)
            #expect(try ended["status"] == "processing")
            #expect(try ended["message"].isEmpty == false)
            #expect(ended.json["audio_files"] == files)
            #expect(ended.json["audio_files_received"] == .integer(3))

            let done = try await client.read(id)
            #expect(done.status == 200)
            #expect(try done["session_id"] == id)
            #expect(try done["status"] == "completed")
            #expect(try done["transcript"].isEmpty == false)
            #expect(try done["templates.0.soap.status"] == "success")
            #expect(done.has("templates.0.soap.data"))
            #expect(done.json["audio_files_processed"] == .integer(3))
            #expect(try done["language_detected"] == "en")
            #expect(try done["model_used"] == "pro")
            #expect(try done["additional_data._protocol.upload_type"] == "chunked")
            #expect(try done["additional_data._protocol.requested_templates.0"] == "soap")
            #expect(done.json["processing_errors"] == nil && done.json["error"] == nil)
            #expect(try await client.read(id).json["transcript"] == done.json["transcript"])
        }
    }

    @Test("the transaction API sees the same row, before and after", .covers("M-70", "M-74"))
    func sameRow() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session(
                #","templates":["soap"],"patient_details":{"name":"A","age":"45","gender":"F","oid":"p-7"}"#)
            _ = try await client.sendAudio("1.wav", to: id)
            let details = try await client.get("/voice/api/v1/sessions/\(id)")
            #expect(details.json["data"]?["created_at"] == .integer(1_778_404_353))
            #expect(try await client.status(id, "?dlp=true").status == 200)
            #expect(try await client.list("commit", id, []).status == 200)
            #expect(try await client.status(id).status == 200)
            let done = try await client.read(id)
            #expect(done.status == 200)
            #expect(done.json["audio_files"] == .array([.string("1.wav")]))
            #expect(try await client.end(id).status == 400)
            // A commit after the end changes nothing, whatever it lists.
            #expect(try await client.list("commit", id, ["1.mp3", "2.mp3"]).status == 200)
            #expect(try await client.read(id).status == 200)
            let history = try await client.get("/voice/api/v2/transaction/history?oid=p-7")
            #expect(try history["data.0.txn_id"] == id)
        }
    }

    @Test("a transaction of the other API is a session", .covers("M-42"))
    func oldTransaction() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            #expect(try await client.read("t")["status"] == "initialized")
            _ = try await client.list("stop", "t", [])
            #expect(try await client.read("t")["status"] == "recording")
            try await client.consultation("u", at: now)
            let done = try await client.read("u")
            #expect(done.status == 200)
            #expect(try done["additional_data._protocol.upload_type"] == "chunked")
            #expect(done.json["audio_files"] == .array([.string("1.m4a")]))
        }
    }

    @Test(
        "each client gets the link that it can use",
        .covers("M-12", "M-16", "M-17", "M-18", "M-57"),
        arguments: [
            ("chunked", "", "", false), ("chunked", "?version=v2", "", true), ("chunked", "?version=V2", "", true),
            ("chunked", "", "ekascribe-web", true), ("chunked", "", "ekascribe-desktop-mac", false),
            ("single", "", "ekascribe-web", false), ("single", "?version=v2", "", true),
            ("stream", "?version=v2", "ekascribe-web", false), ("stream", "", "", false),
        ])
    func uploadLinks(uploadType: String, query: String, flavour: String, isForm: Bool) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let headers: HTTPFields = flavour.isEmpty ? [:] : [.flavour: flavour]
            let created = try await client.post(
                TestScribeClient.sessions + query, #"{"upload_type":"\#(uploadType)"}"#, headers: headers)
            #expect(created.status == 201)
            let read = try await client.get(
                "\(TestScribeClient.sessions)/\(try created["session_id"])\(query)", headers: headers)
            for answer in [created, read] {
                if isForm {
                    #expect(try answer["storage_provider"] == "aws")
                    #expect(try answer["upload_url.uploadData.fields.key"].hasSuffix("/${filename}"))
                    #expect(try answer["upload_url.txn_id"] == created["session_id"])
                    guard case .object(let fields)? = answer.json["upload_url"]?["uploadData"]?["fields"] else {
                        Issue.record("no fields")
                        return
                    }
                    #expect(fields.values.allSatisfy { $0.stringValue != nil })
                } else {
                    #expect(answer.json["storage_provider"] == nil)
                    let url = try answer["upload_url"]
                    #expect(url.hasPrefix(uploadType == "stream" ? "ws://" : "http://"))
                }
            }
        }
    }

    @Test(
        "links begin as the server is reached: by the public URL, by a trusted proxy's word, or by the request",
        .covers("M-08"))
    func origins() async throws {
        var server = try TestServer()
        let forwarded: HTTPFields = [.forwardedProto: "https", .forwardedHost: "scribe.example"]
        try await server.run(.socket) { client in
            let answer = try await client.get("/voice/v1/.well-known/medscribealliance", headers: forwarded)
            #expect(try answer["endpoints.base_url"] == "http://localhost/voice/v1")
        }
        server = try TestServer()
        server.configuration.publicURL = "https://public.example"
        try await server.run { anonymous in
            let answer = try await anonymous.get("/voice/v1/.well-known/medscribealliance", headers: forwarded)
            #expect(try answer["endpoints.base_url"] == "https://public.example/voice/v1")
            let client = try await anonymous.login()
            let stream = try await client.post(TestScribeClient.sessions, #"{"upload_type":"stream"}"#)
            #expect(try stream["upload_url"].hasPrefix("wss://public.example/voice/v1/stream/sessions/"))
        }
    }

    @Test(
        "discovery is for everybody, and says all that clients look for",
        .covers("M-07", "M-09", "M-10", "M-11", "M-12"))
    func discovery() async throws {
        try await TestServer().run { client in
            let answer = try await client.get("/voice/v1/.well-known/medscribealliance")
            #expect(answer.status == 200)
            #expect(answer.headers[.cacheControl] == "max-age=10800")
            #expect(!answer.text.contains("null"))
            #expect(try answer["protocol"] == "medscribealliance")
            #expect(try answer["capabilities.storage_provider"] == "aws")
            #expect(answer.text.contains(#""max_session_duration_seconds":3600"#))
            guard case .array(let languages)? = answer.json["languages"]?["supported"] else {
                Issue.record("no languages")
                return
            }
            #expect(languages.contains(.string("auto_detect")))
        }
    }

    @Test("what is said at the start comes back as it was said", .covers("M-19", "M-20"))
    func echoes() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let created = try await client.post(
                TestScribeClient.sessions,
                #"{"upload_type":"chunked","communication_protocol":"http","patient_details":{"mobile":5550100,"age":"45"},"#
                    + #""additional_data":{"visit":7},"language_hint":["auto_detect","hi","klingon-tlh!"],"unknown":1,"#
                    + #""session_id":"my-own-session-01","transcript_language":["en"]}"#)
            #expect(created.status == 201)
            let patient = JSONValue.object(["mobile": .integer(5_550_100), "age": .string("45")])
            #expect(created.json["patient_details"] == patient)
            let read = try await client.read("my-own-session-01")
            #expect(read.json["patient_details"] == patient)
            #expect(read.json["additional_data"]?["visit"] == .integer(7))
            let plain = try await client.session()
            #expect(try await client.read(plain).json["patient_details"] == nil)
        }
    }

    @Test(
        "a start that cannot be is refused in the family's envelope", .covers("M-21", "M-22", "M-23", "M-65"),
        arguments: [
            (#"{}"#, 422, "invalid_request"), ("", 422, "invalid_request"), ("[]", 422, "invalid_request"),
            (#"{"upload_type":"fax"}"#, 422, "invalid_request"), (#"{"upload_type":null}"#, 422, "invalid_request"),
            (#"{"upload_type":"chunked","model":"huge"}"#, 422, "invalid_request"),
            (#"{"upload_type":"chunked","templates":["a","b","c"]}"#, 422, "invalid_request"),
            (#"{"upload_type":"chunked","templates":["no-such-template"]}"#, 400, "invalid_template"),
            (#"{"upload_type":"chunked","session_id":"short"}"#, 422, "invalid_request"),
            (#"{"upload_type":"chunked","session_id":"has/a/slash/in/it"}"#, 422, "invalid_request"),
            (#"{"upload_type":"chunked","session_id":"taken-session-0001"}"#, 409, "txn_already_initialized"),
            (#"{"upload_type":"chunked","patient_details":"A"}"#, 422, "invalid_request"),
        ])
    func refusals(body: String, status: Int, code: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.session(#","session_id":"taken-session-0001""#)
            let answer = try await client.post(TestScribeClient.sessions, body)
            #expect(answer.status == status)
            #expect(try answer["error.code"] == code)
            #expect(try answer["error.message"].isEmpty == false)
            let limited = try await anonymous.login("dev-limited", "dev-limited-secret")
            let used = try await limited.post(TestScribeClient.sessions, #"{"upload_type":"chunked"}"#)
            // The web SDK reads 429 as too many requests, whatever its code is.
            #expect(used.status == 400)
            #expect(try used["error.code"] == "txn_limit_exceeded")
        }
    }

    @Test("a session is ended once, and takes nothing after it", .covers("M-36", "M-40", "M-64"))
    func ended() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session(#","additional_data":{"fixture":"fixture:slow"}"#)
            _ = try await client.sendAudio("1.wav", to: id)
            async let first = client.end(id)
            async let second = client.end(id)
            let statuses = try await [first.status, second.status].sorted()
            #expect(statuses == [202, 400])
            let again = try await client.end(id)
            #expect(again.status == 400)
            #expect(try again["error.code"] == "session_ended")
            let late = try await client.sendAudio("2.wav", to: id)
            #expect(late.status == 400)
            #expect(try late["error.code"] == "session_ended")
            #expect(try await client.read(id, "?document_id=nope").status == 404)
            let finished = try await client.session()
            _ = try await client.sendAudio("1.wav", to: finished)
            _ = try await client.end(finished)
            #expect(try await client.read(finished).status == 200)
            let later = try await client.sendAudio("2.wav", to: finished)
            #expect(try later["error.code"] == "session_completed")
        }
    }

    @Test(
        "a session that nobody ends expires: read it is a session, used it is an error",
        .covers("M-42", "M-45", "M-46"))
    func expired() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let id = try await anonymous.login().session(#","templates":["soap"]"#)
            manual.advance(by: .seconds(3600))
            let client = try await anonymous.login()
            let read = try await client.read(id)
            #expect(read.status == 410)
            #expect(try read["status"] == "expired")
            #expect(try read["session_id"] == id)
            #expect(read.json["templates"] == .array([]))
            #expect(try read["expired_at"] == "2026-05-10T10:12:33Z")
            for answer in [try await client.end(id), try await client.sendAudio("1.wav", to: id)] {
                #expect(answer.status == 410)
                #expect(try answer["error.code"] == "session_expired")
            }
            // It stays as it is, whichever API somebody asks.
            let transaction = "/voice/api/v2/transaction"
            for (method, path, body) in [
                (HTTPRequest.Method.post, "\(transaction)/stop/\(id)", #"{"audio_files":[]}"#),
                (.post, "\(transaction)/commit/\(id)", #"{"audio_files":[]}"#),
                (.patch, "\(transaction)/\(id)", #"{"processing_status":"cancelled"}"#),
                (
                    .post, "/voice/api/v1/transaction/\(id)/convert-to-template",
                    #"{"template_id":"soap","transcript":"A"}"#
                ),
                (.post, "/voice/api/v1/transaction/\(id)/convert-to-template/soap", ""),
                (.patch, "\(TestScribeClient.sessions)/\(id)", #"{"user_status":"cancelled"}"#),
                (.post, "\(TestScribeClient.sessions)/\(id)/process/template", ""),
                (.post, "\(TestScribeClient.sessions)/\(id)/process/template/soap", ""),
            ] {
                let answer = try await client.send(method, path, body: Data(body.utf8))
                #expect(answer.status == 410, "\(path)")
            }
            #expect(try await client.read(id).status == 410)
            let unnamed = try await client.send(
                .post, "\(TestScribeClient.sessions)/\(id)/audio", body: TestAudio.wav(seconds: 1))
            #expect(unnamed.status == 410)
        }
    }

    @Test(
        "what has failed is 200 or 206, and says why", .covers("M-44", "M-47", "M-49"),
        arguments: [
            ("no-speech", 200, "failed"), ("partial", 206, "partial"), ("recogniser-down", 200, "failed"),
        ])
    func failures(fixture: String, status: Int, word: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session(
                #","templates":["soap"],"additional_data":{"fixture":"fixture:\#(fixture)"}"#)
            _ = try await client.sendAudio("1.wav", to: id)
            _ = try await client.end(id)
            let answer = try await client.read(id)
            #expect(answer.status == status)
            #expect(try answer["status"] == word)
            if word == "failed" {
                #expect(try answer["error.code"].isEmpty == false)
                #expect(try answer["error.message"].isEmpty == false)
            } else {
                #expect(answer.json["error"] == nil)
                #expect(answer.json["processing_errors"] != nil)
            }
        }
    }

    @Test("a session without audio fails at once, and a cancelled one is told so", .covers("M-44", "M-56"))
    func empty() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            for uploadType in ["chunked", "single", "stream"] {
                let id = try await client.session("", uploadType)
                #expect(try await client.end(id).status == 202)
                let answer = try await client.read(id)
                #expect(answer.status == 200)
                #expect(try answer["status"] == "failed")
            }
            let given = try await client.session()
            let cancelled = try await client.send(
                .patch, "\(TestScribeClient.sessions)/\(given)",
                body: Data(#"{"user_status":"cancelled","processing_status":"cancelled"}"#.utf8))
            #expect(cancelled.status == 200)
            let answer = try await client.read(given)
            #expect(answer.status == 200)
            #expect(try answer["error.code"] == "cancelled")
            #expect(answer.json["templates"] == .array([]))
            #expect(try await client.end(given).status == 400)
            #expect(try await client.sendAudio("1.wav", to: given)["error.code"] == "session_ended")
        }
    }

    @Test("a patch changes what may change", .covers("M-55", "M-56"))
    func patch() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session(#","templates":["soap"],"additional_data":{"a":1}"#)
            let path = "\(TestScribeClient.sessions)/\(id)"
            func patch(_ body: String) async throws -> TestAnswer {
                try await client.send(.patch, path, body: Data(body.utf8))
            }
            let done = try await patch(
                #"{"templates":["clinical_notes_template"],"additional_data":{"b":2},"transcript_language":"en","model":"lite"}"#
            )
            #expect(done.status == 200)
            #expect(try done["session_id"] == id)
            #expect(try done["status"] == "success")
            #expect(try done["message"].isEmpty == false)
            let empty = try await patch("{}")
            #expect(empty.status == 400)
            let mode = try await patch(#"{"session_mode":"banana"}"#)
            #expect(mode.status == 422)
            let unknown = try await patch(#"{"colour":"red"}"#)
            #expect(unknown.status == 422)
            let template = try await patch(#"{"templates":["no-such-template"]}"#)
            #expect(template.status == 400)
            _ = try await client.sendAudio("1.wav", to: id)
            _ = try await client.end(id)
            let late = try await patch(#"{"model":"pro"}"#)
            #expect(late.status == 409)
            #expect(try late["error.code"] == "session_already_committed")
            let after = try await patch(#"{"additional_data":{"c":3}}"#)
            #expect(after.status == 200)
            let read = try await client.read(id)
            #expect(try read["templates.0.clinical_notes_template.status"] == "success")
            #expect(try read["additional_data._protocol.requested_templates.0"] == "clinical_notes_template")
            let more = try await client.send(.post, "\(path)/process/template")
            #expect(try more["template_id"] == "clinical_notes_template")
            #expect(read.json["additional_data"]?["a"] == .integer(1))
            #expect(read.json["additional_data"]?["c"] == .integer(3))
            #expect(try read["model_used"] == "lite")
        }
    }

    @Test("each call of process-template makes a document", .covers("M-52", "M-53", "M-54"))
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
        "a session that is not there, or another's, is 404 on every verb", .covers("M-66"),
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
        "tokens last a day, a bad one is 401, and what only looks like one means nothing",
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

    @Test("pages of allowed origins may use sessions", .covers("M-69"))
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
        }
    }

    @Test("templates are listed, the business's own first", .covers("M-76"))
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
