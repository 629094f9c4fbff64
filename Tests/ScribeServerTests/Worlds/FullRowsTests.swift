import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

/// Rows as large as a client can make them. A server that encodes or decodes one on an event loop ends the test
/// process: the test command sets `SCRIBE_TRAP_ON_EVENT_LOOP`.
struct FullRowsTests {
    /// An object of almost 64 KB, the most that is echoed.
    static let object = #"{"a":"\#(String(repeating: "é", count: 32_000))"}"#

    /// The context of an ambient session, of almost 256 KB.
    private static var context: String {
        let note = String(repeating: "n", count: 4000)
        let diagnosis =
            #"{"codes":[{"type":"ICD10","code":"I10","description":"Hypertension"}],"diagnosis_note":"\#(note)"}"#
        let diagnoses = Array(repeating: diagnosis, count: 45).joined(separator: ",")
        return #"{"orders":\#(object),"diagnoses":{"values":[\#(diagnoses)]}}"#
    }

    @Test("every documented GET answers for a transaction, a protocol session and an ambient session with full rows")
    func everyRead() async throws {
        let server = try TestServer.ambient()
        let manual = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.login().clinician()
            let details = #","patient_details":\#(Self.object),"additional_data":\#(Self.object)"#
            #expect(try await client.initialise("t", details).status == 201)
            let names = (1...5000).map { "\($0).m4a" }
            #expect(try await client.list("stop", "t", names).status == 200)
            let patched = try await client.send(
                .patch, "/voice/api/v2/transaction/t", headers: [.contentType: "application/json"],
                body: Data(#"{"session_details":\#(Self.object)}"#.utf8))
            #expect(patched.status == 200)
            #expect(patched.body.count > 128 << 10)
            let session = try await client.post(
                TestScribeClient.sessions, #"{"upload_type":"chunked"\#(details)}"#)
            #expect(session.status == 201)
            let id = DocumentedOperation.ambientSession
            #expect(Self.context.utf8.count > 240 << 10)
            let visit = try await client.visit(
                #"{"ambient_session_id":"\#(id)","encounter_id":"t"}"#, context: Self.context, seconds: 2)
            #expect(visit == id)

            // Every other id of a documented path is "t" here: the transaction's, and the encounter's.
            for operation in try DocumentedOperation.all() where operation.method == .get {
                // A stream of events has no end.
                guard !operation.path.hasSuffix("/requests/stream") else { continue }
                let answer = try await manual.letting(pass: .seconds(14), hasJob: false) {
                    try await client.get(operation.path)
                }
                #expect(answer.status < 500, "\(operation)")
            }
            #expect(try await client.read(try session["session_id"]).status < 300)
            #expect(try await client.get("/api/v1/ambient/encounter/t/content").status == 200)
            #expect(try await client.ambient(id, "structured-data").status == 200)
        }
    }

    @Test("a note of a megabyte is written and read by its presigned link")
    func links() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: manual.now)
            #expect(try await client.status("t").status == 200)
            let session = try await client.get("/voice/api/v1/sessions/t?presigned=true")
            let path = { (url: String) in String(url[try #require(url.range(of: "/voice/api")).lowerBound...]) }
            let writing = try path(try session["data.documents.0.edit_url"])
            let reading = try path(try session["data.documents.0.presigned_url"])
            let text = Data(String(repeating: "note ", count: 200_000).utf8)
            for sent in [text, Data(text.prefix(700_000).base64EncodedString().utf8)] {
                let put = try await anonymous.send(
                    .put, writing, headers: [.contentType: "text/markdown"], body: sent)
                #expect(put.status == 200)
                #expect(try await anonymous.get(reading).body == sent)
            }
        }
    }
}
