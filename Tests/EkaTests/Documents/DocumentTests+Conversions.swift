import Basics
import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing
@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// Conversions to notes, and to transcripts in other languages.
extension DocumentTests {
    @Test("a transcript that a client supplies replaces no transcript document of its own")
    func ownTranscript() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let made = try await client.post(
                "/voice/api/v1/documents", #"{"session_id":"t","document_type":"transcript","data":"mine"}"#)
            let converted = try await client.post(
                "/voice/api/v1/transaction/t/convert-to-template", #"{"transcript":"I have a fever."}"#)
            #expect(converted.status == 202)
            #expect(try converted["templates.0.document_id"] == converted["document_id"])
            #expect(try converted["templates.0.template_id"] == converted["template_id"])
            let path = "/voice/api/v1/documents/\(try made["data.document_id"])"
            #expect(try await client.get(path)["data.markdown_data"] == "mine")
        }
    }

    @Test("a conversion to the transcript template leaves the transcript unchanged, corrected or not")
    func transcriptStays() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            let value = Data("corrected".utf8).base64EncodedString()
            _ = try await client.send(
                .patch, "/voice/api/v3/status/t",
                body: Data(#"[{"template-id":"transcript","data":"\#(value)"}]"#.utf8))
            let path = "/voice/api/v1/transaction/t/convert-to-template"
            let converted = try await client.post(path, #"{"template_id":"transcript","target_language":"hi"}"#)
            let status = try await client.status("t")
            #expect(try converted["document_id"] == status["data.template_results.transcript.0.document_id"])
            #expect(try status["data.template_results.transcript.0.value"] == value)
            #expect(try status["data.template_results.transcript.0.lang"] == "raw")
        }
    }

    @Test("a rule about notes does not apply to the transcript in another language, and its link gives plain text")
    func translation() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            _ = try await anonymous.post("/__admin/faults", #"{"operation":"note","empty":true}"#)
            for body in [#"{"template_id":"soap"}"#, #"{"target_language":"hi"}"#] {
                let answer = try await client.post("/voice/api/v1/transaction/t/convert-to-template", body)
                #expect(answer.status == 200, "\(answer.text)")
            }
            let status = try await client.status("t")
            let transcripts = "data.template_results.transcript"
            #expect(try status["\(transcripts).1.value"] == status["\(transcripts).0.value"])
            #expect(try status["data.output.1.value"].isEmpty)
            let session = try await client.get("/voice/api/v1/sessions/t?presigned=true")
            guard case .array(let documents)? = session.json["data"]?["documents"] else {
                throw ScribeError.resultNotFound
            }
            let link = documents.first { $0["template_id"]?.stringValue == "transcript_hi" }?["presigned_url"]
            let place = try #require(link?.stringValue.flatMap(URLComponents.init(string:)))
            let text = try await anonymous.get(place.path)
            #expect(text.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(try Data(text.text.utf8).base64EncodedString() == status["\(transcripts).0.value"])
        }
    }

    @Test("a transcript requested among the note templates equals the transaction's transcript")
    func transcriptAmongNotes() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise(
                "t", #","output_format_template":[{"template_id":"transcript","template_type":"custom"}]"#)
            _ = try await client.upload("1.wav", of: "t", at: now)
            _ = try await client.post("/voice/api/v2/transaction/commit/t", #"{"audio_files":["1.wav"]}"#)
            let status = try await client.status("t")
            #expect(try status["data.output.0.type"] == "transcript")
            #expect(try status["data.output.0.value"] == status["data.template_results.transcript.0.value"])
        }
    }

    @Test("a conversion suggests the medicines that the transcript names")
    func medications() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let converted = try await client.post(
                "/voice/api/v1/transaction/t/convert-to-template",
                #"{"transcript":"Take paracetamol 650 mg three times a day for five days."}"#)
            #expect(converted.status == 202)
            #expect(try converted["status"] == "in-progress")
            #expect(try await client.status("t").status == 200)
            _ = try await client.initialise("u")
            let named = try await client.post(
                "/voice/api/v1/transaction/u/convert-to-template/soap", #"{"transcript":"I have a fever."}"#)
            #expect(named.status == 202)
            #expect(try named["template_id"] == "soap")
            let answer = try await client.get("/voice/v1/session/t/suggested-medications")
            #expect(try answer["session_id"] == "t")
            #expect(try answer["medications.0.extracted.name"].lowercased() == "paracetamol")
            #expect(try answer["medications.0.extracted.dose"] == "650 mg")
            #expect(answer.json["medications"] != .array([]))
        }
    }
}
