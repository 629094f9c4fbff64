import Basics
import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer
@testable import Suki

struct AmbientSessionTests {
    @Test("the other APIs cannot change an expired ambient session")
    func lateElsewhere() async throws {
        let server = try TestServer.ambient()
        try await server.run { anonymous in
            let id = try await anonymous.clinician().ambientSession()
            server.manual.advance(by: .seconds(AmbientPolicy.usualLifetime))
            let business = try await anonymous.login()
            let commit = try await business.post(
                "/voice/api/v2/transaction/commit/\(id)", #"{"audio_files":[],"chunk_info":[]}"#)
            #expect(commit.status == 410)
            #expect(try await business.post("\(TestScribeClient.sessions)/\(id)/end", "").status == 410)
            #expect(try await business.get("\(TestScribeClient.sessions)/\(id)")["status"] == "expired")
        }
    }

    @Test(
        "a new ambient session has the client's UUID or a new one, and its status is created",
        .covers("U-05", "U-06", "U-07"),
        arguments: Transport.allCases)
    func create(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.clinician()
            let made = try await client.post("\(TestScribeClient.ambient)/create", "{}")
            #expect(made.status == 201)
            #expect(made.json == .object(["ambient_session_id": .string(try made["ambient_session_id"])]))
            #expect(UUID(uuidString: try made["ambient_session_id"]) != nil)
            #expect(try await client.post("\(TestScribeClient.ambient)/create", "").status == 201)
            let own = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
            for multilingual in ["true", "false"] {
                let body = #"{"ambient_session_id":"\#(own)","encounter_id":"v-1","multilingual":\#(multilingual)}"#
                #expect(try await client.ambientSession(body) == own)
            }
            #expect(try await client.ambientStatus(own.lowercased()) == "created")
            #expect(
                try await client.post("\(TestScribeClient.ambient)/create", #"{"ambient_session_id":7}"#).errorID
                    == "invalid_ambient_id_format")
            for wrong in ["123dfg-456dfg", "", own + "x"] {
                let answer = try await client.post(
                    "\(TestScribeClient.ambient)/create", #"{"ambient_session_id":"\#(wrong)"}"#)
                #expect(answer.status == 400)
                #expect(answer.errorID == "invalid_ambient_id_format")
            }
            // Visit and session may have one id.
            let same = UUID().uuidString.lowercased()
            #expect(
                try await client.ambientSession(#"{"ambient_session_id":"\#(same)","encounter_id":"\#(same)"}"#) == same
            )
            for (encounter, status) in [
                ("x", 201), (String(repeating: "x", count: 255), 201), ("", 400),
                (String(repeating: "x", count: 256), 400),
            ] {
                let answer = try await client.post(
                    "\(TestScribeClient.ambient)/create", #"{"encounter_id":"\#(encounter)"}"#)
                #expect(answer.status == status)
            }
        }
    }

    @Test(
        "an ambient session's id belongs to one visit, clinician and tenant",
        .covers("U-34"))
    func ownership() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.visit(#"{"encounter_id":"v-1"}"#)
            let open = try await client.ambientSession(#"{"encounter_id":"v-2"}"#)
            let again = #"{"ambient_session_id":"\#(open)","encounter_id":"other"}"#
            #expect(
                try await client.post("\(TestScribeClient.ambient)/create", again).errorID
                    == "ambient_session_already_exists")
            let ended = try await client.post("\(TestScribeClient.ambient)/create", #"{"ambient_session_id":"\#(id)"}"#)
            #expect(ended.status == 409)
            for (subject, partner) in [("dr-other", "demo-partner"), ("dr-rao", "demo-partner-2")] {
                let other = try await anonymous.clinician(subject, of: partner)
                for path in ["status", "content", "transcript", "structured-data", "recording"] {
                    let answer = try await other.ambient(id, path)
                    #expect(answer.status == 404)
                    #expect(answer.errorID == "ambient_session_not_found")
                }
                for path in ["context", "end", "cancel", "content/feedback", "audio"] {
                    let answer = try await other.post(
                        "\(TestScribeClient.ambient)/\(id)/\(path)",
                        #"{"ratingFeedback":{"min_rating":1,"max_rating":5,"rating":4}}"#)
                    #expect(answer.status == 404, "\(path)")
                }
                #expect(try await other.get("/api/v1/ambient/encounter/v-1/content").errorID == "encounter_not_found")
                #expect(try await other.get("/api/v1/ambient/encounter/v-1/structured-data").status == 404)
            }
            // Of the same business, but no ambient session.
            let eka = try await anonymous.login()
            try #require(try await eka.initialise("3f2504e0-4f89-41d3-9a0c-0305e82c3301").status == 201)
            #expect(try await client.ambient("3f2504e0-4f89-41d3-9a0c-0305e82c3301", "status").status == 404)
        }
    }

    @Test("an ambient context is replaced by POST and merged by PATCH", .covers("U-08", "U-09"))
    func context() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession(
                #"{"patient":{"name":"Asha","birthdate":"1979-02-28","gender":"FEMALE"}}"#)
            let path = "\(TestScribeClient.ambient)/\(id)/context"
            func patch(_ body: String) async throws -> JSONValue? {
                let answer = try await client.send(.patch, path, body: Data(body.utf8))
                #expect(answer.status == 200, "\(answer.text)")
                return answer.json["context"]
            }
            let patient = JSONValue.object(["dob": .string("1979-02-28"), "sex": .string("female")])
            #expect(try await patch("") == .object(["patient": patient]))
            let merged = try await patch(#"{"visit":{"visit_type":"New patient / intake","chief_complaint":"Cough"}}"#)
            #expect(merged?["patient"] == patient)
            #expect(merged?["visit"]?["visit_type"] == .string("NEW_PATIENT"))
            #expect(
                try await patch(#"{"visit":{"visit_type":null}}"#)?["visit"]
                    == .object(["chief_complaint": .string("Cough")]))
            _ = try await patch(#"{"sections":[{"loinc":"10164-2"},{"loinc":"8716-3"}]}"#)
            let sections = try await patch(#"{"sections":[{"loinc":"48765-2"}],"patient":null}"#)
            #expect(sections?["sections"] == .array([.object(["loinc": .string("48765-2")])]))
            #expect(sections?["patient"] == nil)
            let set = try await client.post(
                path, #"{"provider":{"specialty":"cardiology","provider_role":"Primary/Attending"}}"#)
            #expect(set.status == 200)
            #expect(set.body.isEmpty)
            let provider = JSONValue.object(["specialty": .string("CARDIOLOGY"), "provider_role": .string("ATTENDING")])
            #expect(try await patch("{}") == .object(["provider": provider]))
            #expect(
                try await patch(#"{"patient":{"dob":"2000-02-29"}}"#)?["patient"]
                    == .object(["dob": .string("2000-02-29")]))
        }
    }

    @Test("an ambient context with one invalid field is refused and changes nothing", .covers("U-10", "U-11", "U-12"))
    func invalidContexts() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let path = "\(TestScribeClient.ambient)/\(id)/context"
            let long = String(repeating: "é", count: 256)
            let wrong = [
                #"{"patient":{"dob":"28-02-1979"}}"#, #"{"patient":{"dob":"1979-02-30"}}"#,
                #"{"patient":{"dob":"2026-05-12"}}"#,
                #"{"patient":{"dob":7}}"#, #"{"patient":{"sex":"unsure"}}"#, #"{"patient":[]}"#,
                #"{"provider":{"specialty":"ASTROLOGY"}}"#, #"{"provider":{"provider_role":"GUEST"}}"#,
                #"{"visit":{"visit_type":"LONG"}}"#, #"{"visit":{"encounter_type":"HOME"}}"#,
                #"{"visit":{"reason_for_visit":"\#(long)"}}"#, #"{"visit":{"chief_complaint":"\#(long)"}}"#,
                #"{"sections":[{"loinc":"1-1"}]}"#, #"{"sections":[{}]}"#, #"{"sections":{}}"#,
                #"{"sections":[{"loinc":"10164-2","is_pbn_section":true},{"loinc":"18776-5","is_pbn_section":true}]}"#,
                #"{"diagnoses":{"values":[{"diagnosis_note":"x"}]}}"#, #"{"diagnoses":{"values":[{"codes":[]}]}}"#,
                #"{"diagnoses":{"values":[{"codes":[{"code":"I10"}]}]}}"#,
                #"{"diagnoses":{"values":[{"codes":[{"type":"ICD10"}]}]}}"#,
                #"{"diagnoses":{"values":[{"codes":[{"type":"ICD10","code":"I10"},{"type":"DSM","code":"x"}]}]}}"#,
                #"{"emr":{"target_emr":"PAPER"}}"#, #"{"orders":[]}"#, "[]", "7",
            ]
            for body in wrong {
                let all =
                    body.hasPrefix("{") && !body.contains("emr")
                    ? #"{"emr":{"target_emr":"EPIC"},"# + body.dropFirst() : body
                for method in [HTTPRequest.Method.post, .patch] {
                    let answer = try await client.send(method, path, body: Data(all.utf8))
                    #expect(answer.status == 400, "\(body)")
                    #expect(answer.errorID == "invalid_context_request", "\(body)")
                }
            }
            #expect(try await client.send(.patch, path).json["context"] == .object([:]))
            let longest = String(repeating: "é", count: 255)
            for body in [
                #"{"visit":{"reason_for_visit":"\#(longest)","chief_complaint":"\#(longest)"}}"#,
                #"{"patient":{"dob":"2026-05-10","sex":"Male"}}"#, #"{"nothing":{"known":1}}"#,
                #"{"diagnoses":{"values":[{"codes":[{"type":"ICD-10","code":"I10"},{"type":"SNOMED","code":"38341003"}]}]}}"#,
                #"{"sections":[{"title":"plan"}]}"#, #"{"diagnoses":{}}"#,
            ] {
                #expect(try await client.send(.patch, path, body: Data(body.utf8)).status == 200, "\(body)")
            }
        }
    }

    @Test(
        "ending an ambient session writes one note, also if it is ended twice",
        .covers("U-13", "U-22", "U-32", "U-33"))
    func note() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            for path in ["content", "transcript", "structured-data"] {
                let answer = try await client.ambient(id, path)
                #expect(answer.status == 412)
                #expect(answer.errorID == "content_not_ready")
            }
            #expect(try await client.ambient(id, "recording").status == 404)
            #expect(try await client.record(id, TestAudio.wav(seconds: 100, rate: 16_000)).status == 200)
            #expect(try await client.ambientStatus(id) == "running")
            #expect(try await client.finishAmbient(id) == "completed")
            let content = try await client.ambient(id, "content")
            #expect(try await client.endAmbient(id).status == 200)
            #expect(try await client.ambientStatus(id) == "completed")
            #expect(try await client.ambient(id, "content").json == content.json)
            guard case .array(let summary)? = content.json["summary"] else { throw ScribeError.resultNotFound }
            // SOAP's four, of which the exam is spoken of after 60 s.
            #expect(summary.map { $0["loinc_code"]?.stringValue } == ["10154-3", "10164-2", "29545-1", "51847-2"])
            for item in summary {
                #expect(item["content"]?.stringValue?.isEmpty == false)
                let title = item["title"]?.stringValue
                #expect(title == title?.uppercased())
                guard case .array(let sources)? = item["source_transcripts"] else { throw ScribeError.resultNotFound }
                #expect(!sources.isEmpty)
            }
            let late = try await client.record(id)
            #expect(late.status == 412)
            #expect(late.errorID == "ambient_session_already_ended")
            #expect(try await client.send(.patch, "\(TestScribeClient.ambient)/\(id)/context").status == 412)
            #expect(try await client.post("\(TestScribeClient.ambient)/\(id)/context", "{}").status == 412)
            #expect(try await client.post("\(TestScribeClient.ambient)/\(id)/cancel", "").status == 412)
        }
    }

    @Test("the transaction API shows an ambient session as a transaction, with the same transcript", .covers("U-33"))
    func transaction() async throws {
        var server = try TestServer.ambient()
        server.configuration.authMode = .open
        try await server.run { client in
            let id = try await client.visit()
            let history = try await client.get("/voice/api/v2/transaction/history")
            #expect(history.text.contains(id))
            let results = try await client.status(id)
            #expect(results.status == 200, "\(results.text)")
            guard case .array(let items)? = try await client.ambient(id, "transcript").json["final_transcript"] else {
                throw ScribeError.resultNotFound
            }
            let spoken = items.compactMap { $0["transcript"]?.stringValue }
            #expect(spoken.count >= 5)
            let session = try await client.get("/voice/v1/sessions/\(id)")
            #expect(session.status == 200)
            #expect(spoken.allSatisfy { session.text.contains($0.prefix(40)) })
            // And may be ended as a session of the session protocol is.
            let other = try await client.ambientSession()
            for time in ["2026-05-10T09:13:33Z", "2026-05-10T09:12:33Z"] {
                try #require(try await client.record(other, at: time).status == 200)
            }
            #expect(try await client.end(other).status == 202)
            #expect(try await client.finishAmbient(other) == "completed")
            guard case .array(let both)? = try await client.ambient(other, "transcript").json["final_transcript"] else {
                throw ScribeError.resultNotFound
            }
            #expect(
                both.map { $0["start_time"]?.stringValue?.prefix(19) } == [
                    "2026-05-10T09:12:33", "2026-05-10T09:13:33",
                ])
        }
    }

    @Test("an ambient session shorter than a minute, or without speech, is skipped and not failed", .covers("U-21"))
    func skipped() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.clinician()
            let short = try await client.ambientSession()
            try #require(try await client.record(short, TestAudio.wav(seconds: 59, rate: 16_000)).status == 200)
            let empty = try await client.ambientSession()
            let silent = try await client.ambientSession(#"{"encounter_id":"fixture:no-speech"}"#)
            try #require(try await client.record(silent, TestAudio.wav(seconds: 61, rate: 16_000)).status == 200)
            for id in [short, empty, silent] {
                #expect(try await client.finishAmbient(id) == "skipped")
                #expect(try await client.ambient(id, "content").json == .object(["summary": .array([])]))
                #expect(try await client.ambient(id, "transcript").json == .object(["final_transcript": .array([])]))
                #expect(try await client.ambient(id, "structured-data").status == 200)
            }
            #expect(
                try await client.get("/api/v1/ambient/encounter/fixture:no-speech/content").json
                    == .object(["summary": .array([])]))
            let enough = try await client.ambientSession()
            try #require(try await client.record(enough, TestAudio.wav(seconds: 60, rate: 16_000)).status == 200)
            #expect(try await client.finishAmbient(enough) == "completed")
        }
    }

    @Test("a cancelled ambient session has no note, and may be cancelled again", .covers("U-18"))
    func cancel() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            try #require(try await client.record(id).status == 200)
            for _ in 0..<2 {
                let answer = try await client.post("\(TestScribeClient.ambient)/\(id)/cancel", "")
                #expect(answer.status == 200)
                #expect(answer.json == .object([:]))
            }
            #expect(try await client.ambientStatus(id) == "aborted")
            #expect(try await client.endAmbient(id).errorID == "ambient_session_already_ended")
            #expect(try await client.ambient(id, "content").status == 412)
            #expect(try await client.ambient(id, "recording").status == 404)
        }
    }
}

extension JSONValue {
    var first: JSONValue? {
        guard case .array(let items) = self else { return nil }
        return items.first
    }
}
