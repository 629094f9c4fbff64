import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import ScribeHTTP
@testable import ScribeServer

struct AllianceSessionTests {
    @Test(
        "a protocol session is created, receives audio, is ended, and is polled until it is completed",
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

    @Test("the transaction API and the session protocol read and change the same row", .covers("M-70", "M-74"))
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

    @Test("the session protocol reads a transaction of the transaction API as a protocol session", .covers("M-42"))
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

    @Test("a protocol session cannot ask for the hidden template of ambient sessions")
    func hiddenTemplate() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let refused = try await client.post(
                TestScribeClient.sessions, #"{"upload_type":"chunked","templates":["ambient_note"]}"#)
            #expect(refused.status == 400)
            #expect(try refused["error.code"] == "invalid_template")
        }
    }

    @Test(
        "the upload link has the form that the client's version and flavour can use",
        .covers("M-12", "M-16", "M-17", "M-18", "M-57"),
        arguments: [
            ("chunked", "", "", false), ("chunked", "?version=v2", "", true), ("chunked", "?version=V2", "", true),
            ("chunked", "", "ekascribe-web", true), ("chunked", "", "ekascribe-desktop-mac", false),
            ("chunked", "", "acme-desktop-mac", true),
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
        "links begin with the public URL, else with a trusted proxy's forwarded host, else with the request's host",
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
        "the discovery document needs no token and lists everything that clients read from it",
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

    @Test(
        "a protocol session returns patient details, additional data and id as its creation sent them",
        .covers("M-19", "M-20"))
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
        "an invalid session creation is refused in the session protocol's error envelope",
        .covers("M-21", "M-22", "M-23", "M-65"),
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

}
