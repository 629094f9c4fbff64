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

struct LongPollTests {
    @Test(
        "a poll is held for its time and then answers 202 without a list",
        .covers("C-28", "C-29", "C-30", "C-44", "C-46"), arguments: Transport.allCases)
    func held(transport: Transport) async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run(transport) { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t", #","additional_data":{"doctor":{"_id":"d"}}"#)
            async let poll = client.status("t")
            try await manual.waitFor(.heldPoll)
            manual.advance(by: .seconds(14))
            let answer = try await poll
            #expect(answer.status == 202)
            #expect(answer.text.contains("output") == false)
            #expect(answer.text.contains("template_results") == false)
            #expect(try answer["data.created_at"] == "2026-05-10T09:12:33Z")
            #expect(try answer["data.additional_data.doctor._id"] == "d")
        }
    }

    @Test("a commit answers a held poll at once", .covers("C-29", "C-47"))
    func woken() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            _ = try await client.upload("1.m4a", of: "t", at: manual.now)
            async let poll = client.status("t")
            try await manual.waitFor(.heldPoll)
            _ = try await client.list("commit", "t", ["1.m4a"])
            #expect(try await poll.status == 200)
        }
    }

    @Test("a transaction of the slow fixture answers 202 first and 200 then", .covers("C-28", "C-29"))
    func slow() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", #","patient_details":{"visit_id":"fixture:slow"}"#, at: manual.now)
            async let first = client.status("t")
            try await manual.waitFor(.heldPoll, .jobRunner)
            manual.advance(by: .seconds(14))
            #expect(try await first.status == 202)
            async let second = client.status("t")
            try await manual.waitFor(.heldPoll, .jobRunner)
            manual.advance(by: .seconds(6))
            #expect(try await second.status == 200)
        }
    }

    @Test("slow transactions hold up no other transactions, and a conversion does not restart them")
    func slowOnes() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            for number in 1...8 {
                try await client.consultation(
                    "slow-\(number)", #","patient_details":{"visit_id":"fixture:slow"}"#, at: manual.now)
            }
            try await client.consultation("quick", at: manual.now)
            #expect(try await client.status("quick").status == 200)
            manual.advance(by: .seconds(10))
            let path = "/voice/api/v1/transaction/slow-1/convert-to-template/soap"
            #expect(try await client.post(path, "{}").status == 200)
            async let poll = client.status("slow-1")
            try await manual.waitFor(.heldPoll, .jobRunner)
            manual.advance(by: .seconds(10))
            #expect(try await poll.status == 200)
        }
    }

    @Test("a poll with dlp answers at once with the results so far", .covers("C-33", "C-39"))
    func immediate() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let early = try await client.status("t", "?dlp=true")
            #expect(early.status == 200)
            #expect(try early["data.output.0.status"] == "in-progress")
            #expect(try early["data.template_results.transcript.0.status"] == "in-progress")
            try await client.consultation("u", at: now)
            _ = try await client.status("u")
            #expect(try await client.status("u", "?dlp=true")["data.output.0.status"] == "success")
        }
    }

    @Test("a poll for the transcript, a template or a document gets only that result", .covers("C-51"))
    func selection() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation(
                "t", #","output_format_template":[{"template_id":"soap"},{"template_id":"x"}]"#, at: now)
            for query in ["?template_id=transcript", "?transcript=true"] {
                let transcript = try await client.status("t", query)
                #expect(transcript.status == 200)
                #expect(try transcript["data.template_results.transcript.0.status"] == "success")
                #expect(transcript.json["data"]?["output"] == .array([]))
            }
            let note = try await client.status("t", "?template_id=x")
            #expect(try note["data.output.0.template_id"] == "x")
            #expect(!note.has("data.output.1.template_id"))
            let document = try note["data.output.0.document_id"]
            #expect(try await client.status("t", "?document_id=\(document)")["data.output.0.template_id"] == "x")
            let missing = try await client.status("t", "?template_id=nope")
            #expect(missing.status == 400, "the web client takes 404 for success")
            #expect(try missing["error.code"] == "resource_not_found")
        }
    }

    @Test(
        "a poll for an unknown transaction is 400, because the web client takes a 404 for success",
        .covers("C-51", "C-52"))
    func unknown() async throws {
        try await TestServer().run { anonymous in
            let answer = try await anonymous.login().status("nope")
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "transaction_not_found")
            #expect(try answer["error.msg"] == answer["error.message"])
            #expect(try answer["txn_id"] == "nope")
            #expect(try answer["b_id"] == "b-demo")
        }
    }

    @Test(
        "a transaction without a commit for two hours is active_session, and can still be committed", .covers("C-108"))
    func abandoned() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            _ = try await client.upload("1.m4a", of: "t", at: manual.now)
            manual.advance(by: .seconds(7201))
            let later = try await anonymous.login()
            let answer = try await later.status("t")
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "active_session")
            #expect(try await later.list("stop", "t", ["1.m4a"]).status == 200)
            #expect(try await later.list("commit", "t", ["1.m4a"]).status == 200)
            #expect(try await later.status("t").status == 200)
        }
    }

    @Test("a committed file that arrives late is awaited, and named in a warning if it never arrives")
    func lateAudio() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            _ = try await client.upload("1.m4a", of: "t", at: manual.now)
            #expect(try await client.list("commit", "t", ["1.m4a", "2.m4a", "3.m4a"]).status == 200)
            async let poll = client.status("t")
            // The poll and the job that waits for audio.
            try await manual.waitFor(.heldPoll, .jobRunner)
            _ = try await client.upload("2.m4a", of: "t", at: manual.now)
            manual.advance(by: .seconds(10))
            let answer = try await poll
            #expect(answer.status == 206)
            #expect(try answer["data.output.0.warnings.0.code"] == "audio_missing")
            #expect(try answer["data.output.0.warnings.0.msg"].contains("3.m4a"))
            #expect(try answer["data.output.0.warnings.0.msg"].contains("2.m4a") == false)
        }
    }
}
