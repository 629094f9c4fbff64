import Basics
import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import ScribeHTTP
@testable import ScribeServer

struct DocumentLinksTests {
    /// The path of a link.
    private func path(_ url: String) throws -> String {
        let start = try #require(url.range(of: "/voice/api")).lowerBound
        return String(url[start...])
    }

    private func put(_ client: TestScribeClient, _ path: String, _ text: String) async throws -> TestAnswer {
        try await client.send(.put, path, headers: [.contentType: "text/markdown"], body: Data(text.utf8))
    }

    @Test("a page reads and writes a note by the note's presigned links alone", .covers("M-71", "M-72", "M-81"))
    func links() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: manual.now)
            #expect(try await client.status("t").status == 200)
            let plain = try await client.get("/voice/api/v1/sessions/t")
            #expect(!plain.has("data.documents.0.presigned_url"))
            #expect(plain.json["data"]?["documents"].map { "\($0)".contains("download_url") } == false)
            let session = try await client.get("/voice/api/v1/sessions/t?presigned=true")
            #expect(try session["data.documents.0.document_type"] == "custom", "the newest first")
            #expect(try session["data.documents.1.document_type"] == "transcript")
            #expect(session.json["data"]?["request_templates"]?["visual"] == .array([]))
            #expect(try session["data.upload_url"].hasSuffix("/voice/v1/sessions/t/audio"))
            #expect(try session["data.documents.0.download_url"] == session["data.documents.0.presigned_url"])

            let reading = try path(try session["data.documents.0.presigned_url"])
            let note = try await anonymous.get(reading)
            #expect(note.status == 200)
            #expect(note.headers[.contentType] == "text/markdown; charset=utf-8")
            #expect(note.headers[.contentTypeOptions] == "nosniff")
            #expect(note.headers[.contentSecurityPolicy]?.hasPrefix("sandbox;") == true)
            #expect(note.headers[.contentDisposition] == "attachment", "it is fetched, and opened as no page")
            let text = String(decoding: try #require(Data(base64Encoded: note.text)), as: UTF8.self)
            #expect(text.contains("fever"))
            let transcript = try await anonymous.get(try path(try session["data.documents.1.presigned_url"]))
            #expect(transcript.text.contains("fever"))

            // As base64, and as it is.
            let writing = try path(try session["data.documents.0.edit_url"])
            let mine = Data("# Mine ü".utf8).base64EncodedString()
            for (sent, kept) in [
                (mine, "# Mine ü"), ("# Plain", "# Plain"), ("# Plain", "# Plain"), (mine, "# Mine ü"),
            ] {
                #expect(try await put(anonymous, writing, sent).status == 200)
                let read = try await anonymous.get(reading)
                #expect(read.text == sent, "the bytes of the last PUT")
                let value = Data(kept.utf8).base64EncodedString()
                #expect(try await client.status("t")["data.output.0.value"] == value)
                let id = try session["data.documents.0.document_id"]
                let shown = try await client.get("/voice/api/v1/documents/\(id)")
                #expect(try shown["data.markdown_data"] == kept)
            }
            // An edit by any other way ends that.
            #expect(try await put(anonymous, writing, "# Plain").status == 200)
            let id = try session["data.documents.0.document_id"]
            let edited = try await client.send(
                .patch, "/voice/api/v3/status/t",
                body: Data(#"[{"document-id":"\#(id)","data":"\#(mine)"}]"#.utf8))
            #expect(edited.status == 200)
            #expect(try await anonymous.get(reading).text == mine)

            #expect(try await put(anonymous, reading, "x").status == 403)
            #expect(try await anonymous.get(writing).status == 403)
            #expect(try await anonymous.get(reading + "x").status == 403)
            let huge = try await put(anonymous, writing, String(repeating: "x", count: 2 << 20))
            #expect(huge.status == 413)
            let broken = try await anonymous.send(.put, writing, body: Data([0xFF, 0xFE]))
            #expect(broken.status == 400)
            manual.advance(by: .seconds(3600))
            let late = try await anonymous.get(reading)
            #expect(late.status == 403)
            #expect(try late["error.code"] == "link_refused")
        }
    }

    @Test("a transaction's details list each requested template as an object, integrations apart", .covers("M-80"))
    func requestedTemplates() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let templates = #"[{"template_id":"soap"},{"template_id":"nic_template","template_type":"integration"}]"#
            try #require(try await client.initialise("t", #","output_format_template":\#(templates)"#).status == 201)
            let session = try await client.get("/voice/api/v1/sessions/t")
            #expect(try session["data.request_templates.visual.0.template_id"] == "soap")
            #expect(!session.has("data.request_templates.visual.1"))
            #expect(try session["data.request_templates.integration.0.template_id"] == "nic_template")
            #expect(!session.has("data.request_templates.integration.1"))
        }
    }

    @Test("a document that a client has added has a link to write it, until the document is deleted", .covers("M-71"))
    func own() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let made = try await client.post("/voice/api/v1/documents", #"{"session_id":"t","document_type":"notes"}"#)
            #expect(made.status == 201)
            let writing = try path(try made["data.presigned_url"])
            #expect(try await put(anonymous, writing, "# Remarks").status == 200)
            let id = try made["data.document_id"]
            let read = try await client.get("/voice/api/v1/documents/\(id)")
            #expect(try read["data.markdown_data"] == "# Remarks")
            let reading = try path(try read["data.presigned_url"])
            #expect(try await anonymous.get(reading).status == 200)
            _ = try await client.send(.delete, "/voice/api/v1/documents/\(id)")
            #expect(try await anonymous.get(reading).status == 404)
            #expect(try await put(anonymous, writing, "late").status == 404)
        }
    }

    @Test("audio whose URL has no usable bucket is found by its folder", arguments: ["None", "null", "undefined"])
    func unknownBucket(bucket: String) throws {
        let body = try JSONDecoder().decode(
            InitBody.self,
            from: Data(#"{"transfer":"non-vaded","batch_s3_url":"s3://\#(bucket)/c/t/20260510_091233"}"#.utf8))
        let request = try body.validated(flavour: "", isStrict: false)
        #expect(
            request.audioLocation == AudioLocation(bucket: EkaFamily.batchBucket, folder: "c/t/20260510_091233"))
    }

    @Test("templates are drafted at the path of the web SDK 2.x too")
    func drafts() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let path = "/api/v1/medai/ai-create-template"
            let draft = try await client.post(
                path, #"{"instruction":"A visit for diabetes: history, medication, advice"}"#)
            #expect(draft.status == 200)
            #expect(try draft["title"].isEmpty == false)
            #expect(try await client.post(path, "{").status == 400)
        }
    }
}
