import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

/// `/__admin/transactions`, `/__admin/objects` and `/__admin/fixtures`.
struct TransactionControlTests {
    private static let path = "/__admin/transactions"
    private static let fixtures = "/__admin/fixtures"

    private static func call(_ client: TestScribeClient, _ verb: String, _ body: String = "{}") async throws
        -> TestAnswer
    {
        try await client.post("\(path)/i-1/\(verb)", body)
    }

    /// Texts of all results, which the status has in base64.
    private static func written(_ id: String, _ client: TestScribeClient) async throws -> String {
        try await client.status(id).text.matches(of: /"value":"([^"]*)"/)
            .compactMap { Data(base64Encoded: String($0.1).replacing("\\/", with: "/")) }
            .map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    @Test(
        "the operator API commits a transaction with the uploaded files and waits for its results",
        arguments: Transport.allCases)
    func commit(transport: Transport) async throws {
        let server = try TestServer()
        try await server.run(transport) { [manual = server.manual] anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-1")
            _ = try await client.upload("1.wav", of: "i-1", at: manual.now)
            let committed = try await Self.call(client, "commit")
            #expect(committed.status == 200, "\(committed.text)")
            let done = try await Self.call(client, "wait", #"{"timeout":"60s"}"#)
            #expect(try done["processing_status"] == "success", "\(done.text)")
            #expect(try await Self.call(client, "commit").status == 409)
            #expect(try await Self.call(client, "fail").status == 409)
            #expect(try await client.status("i-1").status == 200)
            let objects = try await client.get("/__admin/objects?transaction=i-1")
            #expect(objects.status == 200)
            let id = try #require(objects.text.firstMatch(of: /"object_id":"([0-9]+)"/)?.1)
            let bytes = try await client.get("/__admin/objects/\(id)")
            #expect(bytes.headers[.contentType] == "application/octet-stream")
            #expect(bytes.text.hasPrefix("RIFF"))
            #expect(try await client.send(.delete, "\(Self.path)/i-1").status == 204)
            #expect(try await client.get("\(Self.path)/i-1").status == 404)
            #expect(try await client.get("/__admin/objects").text.contains(#""objects":[]"#))
            #expect(try await client.get("/__admin/objects/\(id)").status == 404)
            #expect(try await client.get("/__admin/objects?limit=0").status == 400)
            #expect(try await client.initialise("i-1").status == 201, "the id is free again")
        }
    }

    @Test("the operator API completes, fails or cancels a transaction with results of the operator's choice")
    func results() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-1")
            let done = try await Self.call(client, "complete", #"{"transcript":"I cough.","note":"Cough, by hand."}"#)
            #expect(try done["processing_status"] == "success", "\(done.text)")
            let written = try await Self.written("i-1", client)
            #expect(written.contains("Cough, by hand.") && written.contains("I cough."), "\(written)")
            _ = try await client.initialise("i-2")
            let failed = try await client.post("\(Self.path)/i-2/fail", #"{"code":"transcription_timeout"}"#)
            #expect(failed.text.contains("transcription_timeout"), "\(failed.text)")
            _ = try await client.initialise("i-3")
            #expect(try await client.post("\(Self.path)/i-3/cancel", "{}")["user_status"] == "cancelled")
            #expect(try await client.get("\(Self.path)/i-3")["processing_status"] == "cancelled")
        }
    }

    @Test("a transaction of the mode dictation gets a note of what was dictated")
    func dictation() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let begun = try await client.post(
                "/voice/api/v2/transaction/init/i-1",
                #"{"transfer":"vaded","mode":"dictation","s3_url":"s3://bucket/260510/i-1"}"#)
            #expect(begun.status == 201)
            let text = "impression unstable angina plan aspirin 300 mg stat scratch that clopidogrel 300 mg stat"
            _ = try await Self.call(client, "complete", #"{"transcript":"\#(text)"}"#)
            let note = try #require(try await client.status("i-1")["data.output.0.value"].base64Text)
            #expect(note.contains("nstable angina") && note.contains("clopidogrel 300 mg stat"), "\(note)")
            #expect(!note.contains("aspirin"))
        }
    }

    @Test(
        "an invalid operator call on a transaction changes nothing",
        arguments: ["commit", "cancel", "fail", "complete", "wait"])
    func wrong(verb: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-1")
            let cases: [(String, HTTPFields, Int)] = [
                ("{}", [.contentType: "text/plain"], 415), (#"{"x":1}"#, [:], 400), ("[]", [:], 400),
                (String(repeating: " ", count: 1 << 20 | 1), [:], 413),
            ]
            for (text, headers, status) in cases {
                let answer = try await client.post("\(Self.path)/i-1/\(verb)", text, headers: headers)
                #expect(answer.status == status, "\(text.prefix(40))")
            }
            for text in [#"{"code":"x","transcript":"","timeout":"x"}"#, #"{"code":7}"#, #"{"note":[]}"#] {
                #expect(try await client.post("\(Self.path)/i-1/\(verb)", text).status == 400)
            }
            #expect(try await client.post("\(Self.path)/none/\(verb)", "{}").status == 404)
            #expect(try await client.get("\(Self.path)/i-1")["user_status"] == "init")
            #expect(try await client.send(.delete, "\(Self.path)/none").status == 404)
        }
    }

    @Test("a fixture is chosen by its name, for the next transaction, for a client, or by the audio's hash")
    func fixtures() async throws {
        let server = try TestServer()
        try await server.run { [manual = server.manual] anonymous in
            let client = try await anonymous.login()
            func put(_ name: String, _ body: String) async throws -> TestAnswer {
                try await client.send(.put, "\(Self.fixtures)/\(name)", body: Data(body.utf8))
            }
            func heard(_ id: String, _ more: String = "") async throws -> String {
                _ = try await client.initialise(id, more)
                _ = try await client.upload("1.wav", of: id, at: manual.now)
                _ = try await client.post("\(Self.path)/\(id)/commit", "{}")
                _ = try await client.post("\(Self.path)/\(id)/wait", "{}")
                return try await Self.written(id, client)
            }
            #expect(try await put("named", #"{"text":"I am named."}"#).status == 200)
            #expect(
                try await put("next", #"{"chunks":[[{"text":"Next one.","speaker":1}]],"next":true}"#).status == 200)
            #expect(try await put("client", #"{"text":"Of the client.","client":"dev-client"}"#).status == 200)
            #expect(try await client.get("\(Self.fixtures)/next")["name"] == "next")
            let named = try await heard("i-1", #","additional_data":{"fixture":"fixture:named"}"#)
            #expect(named.contains("I am named."), "\(named)")
            #expect(try await heard("i-2").contains("Next one."))
            #expect(try await heard("i-3").contains("Of the client."))
            #expect(try await client.send(.delete, "\(Self.fixtures)/client").status == 204)
            #expect(
                try await put("note", #"{"note":"By the fixture.","next":true,"warning":"low_confidence"}"#).status
                    == 200)
            #expect(try await heard("i-4").contains("By the fixture."))
            _ = try await client.initialise("i-6")
            #expect(try await put("once", #"{"text":"Once only.","next":true}"#).status == 200)
            #expect(try await client.initialise("i-6").status == 200, "a repeated start")
            #expect(try await heard("i-7").contains("Once only."))
            #expect(try await put("refused", #"{"refuses":["init"],"next":true}"#).status == 200)
            #expect(try await client.initialise("i-5").status == 500)
            #expect(try await client.get(Self.fixtures).text.contains("refused"))
            #expect(try await client.send(.delete, Self.fixtures).status == 204)
            #expect(try await client.get("\(Self.fixtures)/next").status == 404)
            #expect(try await client.send(.delete, "\(Self.fixtures)/next").status == 404)
        }
    }

    @Test(
        "the operator API refuses an invalid fixture",
        arguments: [
            "", "[]", #"{"x":1}"#, #"{"text":""}"#, #"{"text":"a","chunks":["b"]}"#, #"{"chunks":[]}"#,
            #"{"chunks":[[{"text":"a","start":2,"end":1}]]}"#, #"{"chunks":[[{"text":"a","start":1e99}]]}"#,
            #"{"failure":"nothing"}"#, #"{"failure":"no_speech","warning":"low_confidence"}"#, #"{"delay":"soon"}"#,
            #"{"sha256":"abc"}"#, #"{"next":1}"#, #"{"refuses":["nothing"]}"#,
            #"{"chunks":[[{"text":"a","speaker":-1}]]}"#,
        ])
    func wrongFixture(body: String) async throws {
        try await TestServer().run { client in
            #expect(try await client.send(.put, "\(Self.fixtures)/a", body: Data(body.utf8)).status == 400)
            for path in ["fixture:a", String(repeating: "a", count: 65)] {
                let (get, put, delete) = (
                    try await client.get("\(Self.fixtures)/\(path)"),
                    try await client.send(.put, "\(Self.fixtures)/\(path)", body: Data("{}".utf8)),
                    try await client.send(.delete, "\(Self.fixtures)/\(path)")
                )
                #expect(get.status == 400 && put.status == 400 && delete.status == 400)
            }
            let text = try await client.send(
                .put, "\(Self.fixtures)/a", headers: [.contentType: "text/plain"], body: Data("{}".utf8))
            #expect(text.status == 415)
            let long = Data(repeating: UInt8(ascii: " "), count: 1 << 20 | 1)
            #expect(try await client.send(.put, "\(Self.fixtures)/a", body: long).status == 413)
            #expect(try await client.get(Self.fixtures).text.contains(#""fixtures":[]"#))
        }
    }
}
