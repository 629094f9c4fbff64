import Alliance
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
    @Test(
        "the end route ends a protocol session once, and an ended protocol session refuses audio",
        .covers("M-36", "M-40", "M-64"))
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
        "audio keeps a protocol session open for three hours after the last of it, except with --strict-docs",
        arguments: [false, true])
    func audio(isStrict: Bool) async throws {
        var server = try TestServer()
        server.configuration.alliance.isStrict = isStrict
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session(#","templates":["soap"]"#)
            manual.advance(by: .seconds(3599))
            #expect(try await client.sendAudio("1.wav", to: id).status == 200)
            let expiry = isStrict ? "2026-05-10T10:12:33Z" : "2026-05-10T13:12:32Z"
            #expect(try await client.read(id)["expires_at"] == expiry)
            let details = try await client.get("/voice/api/v1/sessions/\(id)")
            let end = try #require(Date(iso8601: expiry))
            #expect(details.json["data"]?["expires_at"] == .integer(Int64(end.timeIntervalSince1970)))
            manual.advance(by: .seconds(isStrict ? 0 : 3 * 3600 - 1))
            let open = try await client.read(id)
            #expect(open.status == 202)
            #expect(try open["expires_at"] == expiry)
            manual.advance(by: .seconds(1))
            for _ in 0..<2 {
                let read = try await client.read(id)
                #expect(read.status == 410)
                #expect(try read["expires_at"] == expiry)
                #expect(try await client.end(id).status == 410)
            }
        }
    }

    @Test(
        "an expired protocol session can still be read, and any other call on it is refused with 410",
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
        "a failed protocol session reads as 200 or 206 with the reason of the failure", .covers("M-44", "M-47", "M-49"),
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

    @Test("a partial protocol session names the audio that could not be recognised", .covers("M-49"))
    func partial() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session()
            _ = try await client.sendAudio("1.wav", to: id)
            _ = try await client.sendAudio("2.wav", to: id, Data("no audio at all, though it says so".utf8))
            _ = try await client.end(id)
            let answer = try await client.read(id)
            #expect(answer.status == 206)
            let problem: JSONValue = .object([
                "type": .string("undecodable_audio"), "message": .string("Audio could not be decoded: 2.wav"),
            ])
            #expect(answer.json["processing_errors"] == .array([problem]))
        }
    }

    @Test(
        "ending a protocol session without audio fails it at once, and a cancelled one reads as cancelled",
        .covers("M-44", "M-56"))
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

    @Test(
        "a PATCH of a protocol session changes templates, additional data, language and model", .covers("M-55", "M-56"))
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
}
