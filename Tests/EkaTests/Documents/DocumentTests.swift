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

struct DocumentTests {
    @Test("a transaction's details include all its data, and are 202 while results are pending")
    func details() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t", #","patient_details":{"oid":"p-1"}"#)
            #expect(try await client.get("/voice/api/v1/sessions/t").status == 202)
            _ = try await client.upload("1.m4a", of: "t", at: now)
            _ = try await client.list("commit", "t", ["1.m4a"])
            #expect(try await client.status("t").status == 200)
            let session = try await client.get("/voice/api/v1/sessions/t?presigned=true")
            #expect(session.status == 200)
            #expect(try session["data.session_id"] == "t")
            #expect(try session["data.session_details.oid"] == "p-1")
            #expect(try session["data.documents.1.document_type"] == "transcript")
            #expect(try session["data.documents.0.status"] == "success")
            #expect(try await client.get("/voice/api/v1/sessions/nope").status == 404)
        }
    }

    @Test("the context route adds each past session and attachment once, and removes them")
    func context() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let path = "/voice/api/v1/sessions/t/context"
            let earlier = { (id: String, date: JSONValue) in
                JSONValue.object(["session_id": .string(id), "date_epoch": date, "title": .null])
            }
            for patient in ["p", "q"] {
                let body = """
                    {"context":{"past_sessions":["a","b"],"attachments":[
                        {"id":"1","session_id":"a","patient_oid":"\(patient)"},{"id":"2","session_id":"a"}]}}
                    """
                let added = try await client.send(.patch, path, body: Data(body.utf8))
                #expect(added.status == 200)
                let sessions = added.json["data"]?["context"]?["past_sessions"]
                #expect(sessions == .array([earlier("a", .null), earlier("b", .null)]))
                #expect(try added["data.context.attachments.0.patient_oid"] == patient)
                #expect(try added["data.context.attachments.1.id"] == "2")
                #expect(!added.has("data.context.attachments.2.id"))
            }
            // As bytes they are two, as texts one.
            for id in ["caf%C3%A9", "cafe%CC%81"] { #expect(try await client.initialise(id).status == 201) }
            let twins = Data(#"{"context":{"past_sessions":["caf\u00e9","cafe\u0301"]}}"#.utf8)
            #expect(try await client.send(.patch, path, body: twins).status == 200)
            _ = try await client.send(.delete, path, body: twins)
            _ = try await client.initialise("before")
            let known = try await client.send(
                .patch, path, body: Data(#"{"context":{"past_sessions":["before"]}}"#.utf8))
            let time = JSONValue.integer(Int64(server.manual.now.timeIntervalSince1970))
            #expect(
                known.json["data"]?["context"]?["past_sessions"]
                    == .array([earlier("a", .null), earlier("b", .null), earlier("before", time)]))
            _ = try await client.send(.delete, path, body: Data(#"{"context":{"past_sessions":["before"]}}"#.utf8))
            let gone = #"{"context":{"past_sessions":[{"session_id":"a"}]}}"#
            let removed = try await client.send(.delete, path, body: Data(gone.utf8))
            #expect(removed.json["data"]?["context"]?["past_sessions"] == .array([earlier("b", .null)]))
            let wrong = try await client.send(.patch, path, body: Data(#"{"context":{"documents":"x"}}"#.utf8))
            #expect(wrong.status == 400)
            #expect(try wrong["error.message"].contains("context.documents"))
            #expect(try await client.get("/voice/api/v1/sessions/t")["data.context.attachments.0.id"] == "1")
        }
    }

    @Test("a business adds, changes, publishes and deletes documents, which are no results of the transaction")
    func documents() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let other = try await anonymous.login("dev-client-2", "dev-secret-2")
            try await client.consultation("t", at: now)
            _ = try await client.status("t")
            let made = try await client.post(
                "/voice/api/v1/documents", #"{"session_id":"t","document_type":"notes","data":"first"}"#)
            #expect(made.status == 201)
            let id = try made["data.document_id"]
            let path = "/voice/api/v1/documents/\(id)"
            let changed = try await client.post(
                "/voice/api/v1/documents", #"{"document_id":"\#(id)","document_name":"N","data":"second"}"#)
            #expect(changed.status == 200)
            let read = try await client.get(path)
            #expect(try read["data.markdown_data"] == "second")
            #expect(try read["data.document_name"] == "N")
            #expect(try await client.post("/voice/api/v1/sessions/t/documents/\(id)/publish", "").status == 200)
            #expect(try await client.get(path).json["data"]?["publish"]?["published_at"] != nil)
            #expect(try await client.get("/voice/api/v1/documents?session_id=t")["data.2.document_id"] == id)
            #expect(try await client.status("t").text.contains(id) == false)
            for foreign in [
                try await other.get(path), try await other.send(.delete, path),
                try await other.post("/voice/api/v1/documents", #"{"document_id":"\#(id)","data":"x"}"#),
                try await other.post("/voice/api/v1/sessions/t/documents/\(id)/publish", ""),
            ] {
                #expect(foreign.status == 404)
            }
            #expect(try await client.send(.delete, path).status == 200)
            #expect(try await client.send(.delete, path)["message"] == "Document already deleted")
            #expect(try await other.send(.delete, path).status == 404)
            #expect(try await client.get(path).status == 404)
            #expect(try await client.get("/voice/api/v1/sessions/t").text.contains(id) == false)
        }
    }

    @Test(
        "a client makes documents of every type, and none of them is a result of the transaction",
        arguments: ResultDocument.Kind.allCases)
    func types(kind: ResultDocument.Kind) async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let spelling = kind == .transcript ? "type" : "document_type"
            func make() async throws -> String {
                let made = try await client.post(
                    "/voice/api/v1/documents",
                    #"{"session_id":"t","\#(spelling)":"\#(kind.rawValue)","data":"by hand"}"#)
                #expect(made.status == 201, "\(made.text)")
                #expect(try made["data.document_type"] == kind.rawValue)
                return try made["data.document_id"]
            }
            _ = try await client.initialise("t")
            let early = try await make()
            _ = try await client.upload("1.m4a", of: "t", at: now)
            _ = try await client.list("commit", "t", ["1.m4a"])
            let status = try await client.status("t")
            let transcript = try status["data.template_results.transcript.0.value"]
            #expect(transcript != Data("by hand".utf8).base64EncodedString())
            let late = try await make()
            for id in [early, late] {
                #expect(try await client.get("/voice/api/v1/documents/\(id)")["data.markdown_data"] == "by hand")
                #expect(!status.text.contains(id))
                let asked = try await client.get("/voice/api/v3/status/t?document_id=\(id)")
                #expect(asked.text.contains(id) && asked.text.contains(Data("by hand".utf8).base64EncodedString()))
                let edited = try await client.post(
                    "/voice/api/v1/documents", #"{"document_id":"\#(id)","data":"again"}"#)
                #expect(edited.status == 200)
            }
            #expect(try await client.status("t")["data.template_results.transcript.0.value"] == transcript)
        }
    }

    @Test("numbers of additional_data keep their digits, from init and from a later change")
    func digits() async throws {
        let number = "123456789012345678901234567890.5"
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t", #","additional_data":{"a":18446744073709551616}"#)
            let path = "/voice/api/v2/transaction/t"
            let patched = try await client.send(
                .patch, path, body: Data(#"{"additional_data":{"b":[\#(number)]}}"#.utf8))
            #expect(patched.status == 200)
            for path in [path, "/voice/api/v1/sessions/t", "/voice/api/v3/status/t?dlp=true"] {
                let text = try await client.get(path).text
                #expect(text.contains(#""additional_data":{"a":18446744073709551616,"b":[\#(number)]}"#), "\(text)")
            }
        }
    }

    @Test("a document that the web client's editor saves is read back unchanged")
    func editor() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let made = try await client.post(
                "/voice/api/v1/documents?tiptap_json=true", #"{"session_id":"t","type":"context","document_name":"N"}"#)
            #expect(made.status == 201)
            #expect(try made["data.document_type"] == "context")
            #expect(made.json["data"]?["publish"] == .object([:]))
            let id = try made["data.document_id"]
            #expect(try await client.get("/voice/api/v1/sessions/t")["data.context.documents.0"] == id)
            let saved = try await client.post(
                "/voice/api/v1/documents?tiptap_json=true",
                #"{"session_id":"t","document_id":"\#(id)","tiptap_json":{"type":"doc"},"publish":{"emr":"done"}}"#)
            #expect(saved.status == 200)
            #expect(try saved["data.tiptap_json.type"] == "doc")
            let read = try await client.get("/voice/api/v1/documents/\(id)?tiptap_json=true")
            #expect(try read["data.tip_tap_data.type"] == "doc")
            #expect(try read["data.publish.emr"] == "done")
            let wrong = try await client.post(
                "/voice/api/v1/documents", #"{"document_id":"\#(id)","tiptap_json":"text"}"#)
            #expect(wrong.status == 400)
        }
    }

    @Test("the documents API changes a result of a transaction, and refuses to delete it")
    func results() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            let id = try await client.status("t")["data.output.0.document_id"]
            #expect(try await client.send(.delete, "/voice/api/v1/documents/\(id)").status == 400)
            _ = try await client.post("/voice/api/v1/documents", #"{"document_id":"\#(id)","data":"by hand"}"#)
            let value = Data("by hand".utf8).base64EncodedString()
            #expect(try await client.status("t")["data.output.0.value"] == value)
        }
    }

    @Test("a chunk's transcript is returned as soon as it is known, and 404 if there will be none")
    func chunks() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            async let early = client.get("/voice/api/v3/transcript/t/1.m4a")
            _ = try await client.upload("1.m4a", of: "t", at: manual.now)
            let answer = try await early
            #expect(answer.status == 200)
            #expect(try answer["text"].contains("fever"))
            #expect(answer.json["metadata"]?["lang_input"] == .array([]))
            #expect(try Double(answer["audio_quality"]) != nil)
            #expect(try await client.get("/voice/api/v3/transcript/t/1")["text"] == answer["text"])
            #expect(try await client.get("/voice/api/v3/transcript/nope/1.m4a").status == 404)
            _ = try await client.upload("1.m4a", of: "t", TestAudio.wav(seconds: 9), at: manual.now)
            #expect(try await client.get("/voice/api/v3/transcript/t/1")["text"] != answer["text"], "replaced")
            async let missing = client.get("/voice/api/v3/transcript/t/2.m4a")
            try await manual.waitFor(.heldPoll)
            manual.advance(by: .seconds(3))
            #expect(try await missing.status == 404)
        }
    }
}
