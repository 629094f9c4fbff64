import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

extension WebClient {
    func cancel(_ id: String) async throws -> TestAnswer {
        try await session.send(
            .patch, "/voice/api/v2/transaction/\(id)",
            #"""
            {"processing_status":"cancelled","processing_error":{"error":{"type":"","code":"cancelled_by_user",
             "msg":"Cancelled_by_user"}},"user_status":"stopped"}
            """#
        )
    }

    func history(_ query: String = "") async throws -> [String?] {
        let answer = try await session.send(.get, "/voice/api/v2/transaction/history\(query)")
        try #require(answer.status == 200)
        return answer.texts("txn_id", of: "data")
    }
}

extension WebClientTests {
    @Test("the web SDK removes a transaction from history by a PATCH with arc, as by DELETE")
    func archive() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            let path = "/voice/api/v2/transaction/\(id)"
            #expect(try await client.session.send(.patch, path, #"{"arc":false}"#).status == 200)
            #expect(try await client.history() == [id])
            #expect(try await client.session.send(.patch, path, #"{"arc":true}"#).status == 200)
            #expect(try await client.history().isEmpty)
        }
    }

    @Test("the web SDK's PATCH cancels a transaction and removes it from history", .covers("C-109"))
    func cancel() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            let answer = try await client.cancel(id)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer["status"] == "success")
            #expect(try answer["data.txn_id"] == id)
            #expect(try answer["data.processing_status"] == "cancelled")
            let status = try await client.status(id)
            #expect(status.status == 400)
            #expect(try status["error.code"] == "cancelled")
            #expect(try await client.history().isEmpty)
        }
    }

    @Test("a cancellation answers the web SDK's held poll at once", .covers("C-109"))
    func cancelledWhilePolling() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            async let poll = client.status(id)
            try await client.session.clock.waitFor(.heldPoll)
            _ = try await client.cancel(id)
            let answer = try await poll
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "cancelled")
        }
    }

    @Test("the web SDK changes patient details by PATCH, and reads them back", .covers("C-99", "C-101", "C-109"))
    func patient() async throws {
        try await WebClient.run { client in
            for id in ["a", "b"] { _ = try await client.start(id) }
            let answer = try await client.session.send(
                .patch, "/voice/api/v2/transaction/a",
                #"{"patient_details":{"oid":"p-2","username":"Ravi","age":"61","biologicalSex":"M"}}"#
            )
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer["data.patient_details.username"] == "Ravi")
            let row = try await client.session.send(.get, "/voice/api/v2/transaction/a")
            #expect(row.status == 200)
            #expect(try row["data.patient_details.oid"] == "p-2")
            #expect(try await client.history("?oid=p-2") == ["a"])
            #expect(try await client.history("?oid=p-1&count=5") == ["b"])
            let history = try await client.session.send(.get, "/voice/api/v2/transaction/history?oid=p-2")
            #expect(history.list("data").first?["patient_details"]?["age"] == .integer(61))
        }
    }

    @Test("a transaction that the web SDK deletes leaves history and cannot be deleted again")
    func delete() async throws {
        try await WebClient.run { client in
            try await client.record(id)
            _ = try await client.poll(id)
            let answer = try await client.session.send(.delete, "/voice/api/v2/transaction/\(id)")
            #expect(answer.status == 200)
            #expect(try answer["status"] == "success")
            #expect(try await client.history().isEmpty)
            let again = try await client.session.send(.delete, "/voice/api/v2/transaction/\(id)")
            #expect(again.status == 404)
            #expect(try again["error.code"] == "transaction_not_found")
        }
    }

    @Test(
        "the web SDK edits a document by its id, with a value in base64 or in plain text",
        .covers("C-55", "C-102", "C-103"))
    func edit() async throws {
        try await WebClient.run { client in
            try await client.record(id)
            let result = try #require(try await client.poll(id).success)
            let document = try result["data.output.0.document_id"]
            for (data, value) in [
                ("# Edited".base64, "# Edited"), ("# Just text: 50% *better*", "# Just text: 50% *better*"),
            ] {
                let answer = try await client.session.send(
                    .patch, "/voice/api/v3/status/\(id)", #"[{"document-id":"\#(document)","data":"\#(data)"}]"#
                )
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try answer["status"] == "success")
                let edited = try await client.status(id, "?document_id=\(document)")
                #expect(try edited["data.output.0.value"].base64Text == value)
                #expect(try edited["data.template_results.custom.0.value"].base64Text == value)
            }
        }
    }

    @Test(
        "the web SDK converts with an empty object, and polls for the new document by its id", .covers("C-103", "C-106")
    )
    func convert() async throws {
        try await WebClient.run { client in
            try await client.record(id)
            _ = try await client.poll(id)
            let path = "/voice/api/v1/transaction/\(id)/convert-to-template"
            let answer = try await client.session.send(.post, "\(path)/soap", "{}")
            #expect(answer.isSuccess, "\(answer.text)")
            #expect(try answer["status"] == "success")
            let document = try answer["document_id"]
            let result = try #require(try await client.poll(id, "?document_id=\(document)").success)
            #expect(try result["data.output.0.template_id"] == "soap")
            #expect(try result["data.output.0.status"] == "success")
            let byTemplate = try #require(try await client.poll(id, "?template_id=soap").success)
            #expect(try byTemplate["data.output.0.document_id"] == document)
        }
    }

    @Test("a conversion without a template in its path may name the template in its body")
    func convertWithoutTemplate() async throws {
        try await WebClient.run { client in
            try await client.record(id)
            _ = try await client.poll(id)
            let path = "/voice/api/v1/transaction/\(id)/convert-to-template/"
            let empty = try await client.session.send(.post, path, "{}")
            #expect(empty.isSuccess, "\(empty.text)")
            let inBody = try await client.session.send(.post, path, #"{"template_id":"soap","target_language":"hi"}"#)
            #expect(inBody.isSuccess, "\(inBody.text)")
            #expect(try inBody["template_id"] == "soap")
            #expect(try await client.poll(id, "?template_id=soap").success != nil)
        }
    }

    @Test("a conversion writes a corrected note anew, whether or not it names the template")
    func convertCorrected() async throws {
        try await WebClient.run { client in
            try await client.record(id)
            let note = try #require(try await client.poll(id).success?["data.output.0.document_id"])
            let mine = Data("MY EDIT".utf8).base64EncodedString()
            let path = "/voice/api/v1/transaction/\(id)/convert-to-template"
            for place in ["\(path)/", path, "\(path)/clinical_notes_template"] {
                _ = try await client.session.send(
                    .patch, "/voice/api/v3/status/\(id)", #"[{"document-id":"\#(note)","data":"\#(mine)"}]"#)
                #expect(try await client.poll(id, "?document_id=\(note)").success?["data.output.0.value"] == mine)
                _ = try await client.session.send(.post, place, "{}")
                let anew = try await client.poll(id, "?document_id=\(note)").success?["data.output.0.value"]
                #expect(anew != nil && anew != mine)
            }
        }
    }

    @Test("a conversion to a language alone makes a transcript in this language, and leaves the notes alone")
    func convertTranscript() async throws {
        try await WebClient.run { client in
            try await client.record(id)
            let before = try #require(try await client.poll(id).success)
            let path = "/voice/api/v1/transaction/\(id)/convert-to-template"
            for (place, language) in [("", "hi"), ("", "eng"), ("", "hi"), ("/transcript_hi", "hi")] {
                let body = place.isEmpty ? #"{"target_language":"\#(language)"}"# : "{}"
                let answer = try await client.session.send(.post, path + place, body)
                #expect(try answer["template_id"] == "transcript_\(language)")
                let made = try #require(try await client.poll(id, "?template_id=transcript_\(language)").success)
                let place = "data.template_results.transcript.0"
                #expect(try made["\(place).document_id"] == answer["document_id"])
                #expect(try made["\(place).document_type"] == "transcript")
                #expect(try made["\(place).lang"] == language)
                // The server does not translate.
                #expect(try made["\(place).value"] == before["\(place).value"])
                #expect(try made["\(place).status"] == (language == "hi" ? "partial_success" : "success"))
            }
            let after = try #require(try await client.poll(id).success)
            #expect(try after["data.output.0.value"] == before["data.output.0.value"])
            #expect(try after["data.template_results.transcript.0.lang"] == "raw")
            #expect(after.has("data.template_results.transcript.2.lang"))
            #expect(!after.has("data.template_results.transcript.3.lang"))
            #expect(try after["data.output.0.document_id"] == before["data.output.0.document_id"])
        }
    }

    @Test("the web SDK reads and writes a document of its own by id, and such a document is no result")
    func ownDocument() async throws {
        try await WebClient.run { client in
            try await client.record(id)
            _ = try await client.poll(id)
            let body = #"{"session_id":"\#(id)","type":"notes","document_name":"Mine"}"#
            let made = try await client.session.send(.post, "/voice/api/v1/documents", body)
            let document = try made["data.document_id"]
            let data = Data("my own words".utf8).base64EncodedString()
            let status = "/voice/api/v3/status/\(id)"
            let changed = try await client.session.send(
                .patch, status, #"[{"document-id":"\#(document)","data":"\#(data)"}]"#)
            #expect(changed.status == 200, "\(changed.text)")
            let read = try await client.status(id, "?document_id=\(document)")
            #expect(read.status == 200)
            #expect(try read["data.output.0.value"] == data)
            #expect(try read["data.output.0.document_type"] == "notes")
            #expect(try await client.status(id).texts("document_id", of: "data.output").contains(document) == false)
            _ = try await client.session.send(.delete, "/voice/api/v1/documents/\(document)")
            #expect(try await client.status(id, "?document_id=\(document)").status == 400)
        }
    }

    @Test("the web SDK reports that recording has begun, and reads it back from the transaction's details")
    func recordingStarted() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            let path = "/voice/api/v2/transaction/\(id)"
            let told = try await client.session.send(.patch, path, #"{"user_status":"recording_started"}"#)
            #expect(try told["data.user_status"] == "recording_started")
            let session = try await client.session.send(.get, "/voice/api/v1/sessions/\(id)")
            #expect(try session["data.user_status"] == "recording_started")
            let history = try await client.session.send(.get, "/voice/api/v2/transaction/history")
            #expect(history.texts("user_status", of: "data") == ["init"], "older iOS clients cannot read it")
        }
    }

    @Test("a conversion with a transcript instead of audio is accepted and processed in the background")
    func transcript() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            let answer = try await client.session.send(
                .post, "/voice/api/v1/transaction/\(id)/convert-to-template",
                #"{"template_id":"clinical_notes_template","transcript":"I have had a rash for two weeks."}"#
            )
            #expect(answer.status == 202, "\(answer.text)")
            #expect(try answer["status"] == "in-progress")
            #expect(try answer["txn_id"] == id)
            #expect(try answer["b_id"] == "b-demo")
            let result = try #require(try await client.poll(id).success)
            #expect(try result["data.output.0.value"].base64Text?.contains("rash") == true)
            let text = try result["data.template_results.transcript.0.value"].base64Text
            #expect(text == "I have had a rash for two weeks.")
        }
    }
}
