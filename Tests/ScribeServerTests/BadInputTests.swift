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

struct BadInputTests {
    static let verbs = ["init", "stop", "commit"]

    @Test(
        "a body that is no JSON object of the right shape is 400 in the vendor's envelope", .covers("C-10"),
        arguments: [
            "", "{", "null", "[]", "7", "\"x\"", "{\"transfer\":}", "\u{FEFF}", String(repeating: "[", count: 10_000),
        ]
    )
    func malformed(body: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("known")
            for verb in Self.verbs {
                let answer = try await client.post("/voice/api/v2/transaction/\(verb)/known", body)
                #expect(answer.status == 400)
                #expect(try answer["status"] == "failed")
                #expect(try answer["error.code"] == "validation_error")
                #expect(try answer["error.message"].isEmpty == false)
                #expect(try answer["txn_id"] == "known")
                #expect(try answer["b_id"] == "b-demo")
            }
            #expect(try await client.list("commit", "known", []).status == 200, "nothing is lost")
        }
    }

    @Test(
        "a refused init names the field of the wrong type", .covers("C-10"),
        arguments: [
            (#"{"transfer":7}"#, "transfer"), (#"{"transfer":"pigeon"}"#, "transfer"), (#"{}"#, "transfer"),
            (#"{"transfer":"vaded","s3_url":[]}"#, "s3_url"),
            (#"{"transfer":"vaded","s3_url":"s3://b/f","input_language":"en-IN"}"#, "input_language"),
            (#"{"transfer":"vaded","s3_url":"s3://b/f","input_language":[1]}"#, "input_language.0"),
            (#"{"transfer":"vaded","s3_url":"s3://b/f","patient_details":"Asha"}"#, "patient_details"),
            (#"{"transfer":"vaded","s3_url":"s3://b/f","additional_data":[]}"#, "additional_data"),
            (
                #"{"transfer":"vaded","s3_url":"s3://b/f","additional_data":{"a":"#
                    + String(repeating: "[", count: 105) + String(repeating: "]", count: 105) + "}}", "additional_data"
            ),
            (
                #"{"transfer":"vaded","s3_url":"s3://b/f","output_format_template":[{}]}"#,
                "output_format_template.0.template_id"
            ),
            (
                #"{"transfer":"vaded","s3_url":"s3://b/f","output_format_template":[{"template_id":""}]}"#,
                "output_format_template"
            ),
        ]
    )
    func initFields(body: String, field: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.post("/voice/api/v2/transaction/init/t", body)
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "validation_error")
            #expect(try answer["error.message"].contains("'\(field)'"), "\(answer.text)")
            #expect(!answer.text.contains("Asha"))
            #expect(try await client.initialise("t").status == 201, "the id is still free")
        }
    }

    @Test("init requires s3_url or batch_s3_url as its transfer says, and ignores the other")
    func urls() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            func code(_ body: String) async throws -> String? {
                try await client.post("/voice/api/v2/transaction/init/t", body)["error.code"]
            }
            #expect(try await code(#"{"transfer":"vaded"}"#) == "s3_required")
            #expect(try await code(#"{"transfer":"vaded","s3_url":null,"batch_s3_url":"s3://b/f"}"#) == "s3_required")
            #expect(try await code(#"{"transfer":"non-vaded","s3_url":null}"#) == "batch_s3_required")
            #expect(try await code(#"{"transfer":"vaded","s3_url":""}"#) == "s3_required")
            #expect(try await code(#"{"transfer":"non-vaded","batch_s3_url":""}"#) == "batch_s3_required")
            #expect(try await code(#"{"transfer":"non-vaded","s3_url":"s3://b/f"}"#) == "batch_s3_required")
        }
    }

    @Test(
        "init reads null as absent, ignores unknown keys, and accepts both spellings of section",
        .covers("C-11", "C-12", "C-13"))
    func leniency() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let body = #"""
                {"transfer":"vaded","s3_url":"s3://b/f","mode":null,"input_language":null,"model_type":null,
                 "output_format_template":null,"patient_details":null,"Section":"x","section":null,"new_key":{"a":[1]}}
                """#
            #expect(try await client.post("/voice/api/v2/transaction/init/t", body).status == 201)
        }
    }

    @Test(
        "stop and commit accept chunk times in every spelling that clients send",
        .covers("C-19", "C-20", "C-21", "C-22", "C-27"),
        arguments: [
            #"{"audio_files":["1.m4a"],"chunk_info":[{"1.m4a":{"st":0.5,"et":10}}]}"#,
            #"{"audio_files":["1.m4a"],"chunk_info":[{"1.m4a":{"st":"0.5","et":"00:10.25"}}]}"#,
            #"{"audio_files":["1.m4a"],"chunk_info":[]}"#, #"{"audio_files":["1.m4a"],"chunk_info":null}"#,
            #"{"audio_files":["1.m4a"]}"#,
            #"{"audio_files":["1.m4a"],"chunk_info":[{"1.m4a":{"st":"later","et":null}}]}"#,
            #"{"audio_files":["s3://bucket/f/1.m4a"]}"#, #"{"audio_files":["1.m4a",""]}"#,
            #"{"audio_files":["1.m4a"],"chunk_info":[{"1.m4a":{"st":"1e308:0","et":1}}]}"#, #"{"audio_files":[]}"#,
        ]
    )
    func chunkLists(body: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            for verb in ["stop", "commit"] {
                let answer = try await client.post("/voice/api/v2/transaction/\(verb)/t", body)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.json["error"] == nil)
            }
        }
    }

    @Test(
        "a refused stop or commit names the field of the wrong type",
        arguments: [
            (#"{}"#, "audio_files"), (#"{"audio_files":null}"#, "audio_files"),
            (#"{"audio_files":"1.m4a"}"#, "audio_files"),
            (#"{"audio_files":[1]}"#, "audio_files.0"), (#"{"audio_files":["1.wav\u0000x"]}"#, "audio_files"),
            (#"{"audio_files":[],"chunk_info":{}}"#, "chunk_info"),
            (#"{"audio_files":[],"chunk_info":[{"1.m4a":{"st":true}}]}"#, "chunk_info.0.1.m4a.st"),
        ]
    )
    func chunkListFields(body: String, field: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            for verb in ["stop", "commit"] {
                let answer = try await client.post("/voice/api/v2/transaction/\(verb)/t", body)
                #expect(answer.status == 400)
                #expect(try answer["error.message"].contains("'\(field)'"), "\(answer.text)")
            }
        }
    }

    @Test("a NUL in a supplied transcript does not cut the text")
    func nul() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            func transcript() async throws -> String? {
                try await client.status("t", "?template_id=transcript")["data.template_results.transcript.0.value"]
                    .base64Text
            }
            _ = try await client.initialise("t")
            let supplied = try await client.post(
                "/voice/api/v1/transaction/t/convert-to-template",
                #"{"transcript":"Fever.\u0000 Take \\u0000 paracetamol 500 mg."}"#)
            #expect(supplied.status == 202)
            #expect(try await transcript() == "Fever.\u{FFFD} Take \\u0000 paracetamol 500 mg.")
            let edit = try await client.send(
                .patch, "/voice/api/v3/status/t",
                body: Data(#"[{"template-id":"transcript","data":"YWJjAGRlZg=="}]"#.utf8))
            #expect(edit.status == 200)
            #expect(try await transcript() == "abc\u{FFFD}def")
        }
    }

    @Test("an unknown transaction is 404 for stop and commit", arguments: ["stop", "commit"])
    func unknown(verb: String) async throws {
        try await TestServer().run { anonymous in
            let answer = try await anonymous.login().list(verb, "nope", [])
            #expect(answer.status == 404)
            #expect(try answer["error.code"] == "transaction_not_found")
        }
    }

    @Test("a JSON body of more than a megabyte is 413, and the next request is served", arguments: Transport.allCases)
    func huge(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.post(
                "/voice/api/v2/transaction/init/t",
                #"{"transfer":"vaded","x":"\#(String(repeating: "x", count: 1 << 20))"}"#
            )
            #expect(answer.status == 413)
            #expect(try answer["error.code"] == "validation_error")
            #expect(try await client.initialise("t").status == 201)
        }
    }

    @Test(
        "an escaped transaction id is kept as it is, and an id with control characters is refused", .covers("C-01"),
        arguments: [
            ("a%20b", 201), ("a%2Fb", 201), ("%E0%A4%85", 201), ("UPPER", 201), ("a%00b", 400), ("a%0Ab", 400),
            ("%ff", 400),
        ]
    )
    func identifiers(id: String, status: Int) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.post(
                "/voice/api/v2/transaction/init/\(id)", #"{"transfer":"vaded","s3_url":"s3://b/f"}"#
            )
            #expect(answer.status == status)
            if status == 201 { #expect(try await client.status(id, "?dlp=true").status == 200) }
        }
    }

    @Test("an unknown route is 404, a wrong method 405, both in the family's envelope")
    func routes() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let missing = try await client.get("/voice/api/v9/nothing")
            #expect(missing.status == 404)
            #expect(try missing["error.code"] == "route_not_found")
            let wrong = try await client.get("/voice/api/v2/transaction/init/t")
            #expect(wrong.status == 405)
            #expect(wrong.headers[.allow] == "POST")
            let account = try await client.get("/connect-auth/v1/account/login")
            #expect(account.status == 405)
            #expect(account.json["code"] == .integer(405))
            #expect(try await client.post("/voice/api/v2/transaction/init/", "{}").status == 405)
        }
    }

    @Test(
        "an unknown path under a vendor's host is a 404 in JSON, and not an S3 error",
        arguments: ["api.eka.care", "parchi.eka.care"])
    func vendorHosts(host: String) async throws {
        try await TestServer().run(.socket) { client in
            for path in ["/dr/v1/business/entities", "/profile/get/doctorprofile/o", "/bucket/key"] {
                let answer = try await client.send(.get, path, host: host)
                #expect(answer.status == 404)
                #expect(try answer["error.code"] == "route_not_found")
            }
        }
    }

    @Test(
        "history refuses a count that is no positive number",
        arguments: ["0", "-1", "x", "1.5", "99999999999999999999"])
    func historyCount(count: String) async throws {
        try await TestServer().run { anonymous in
            let answer = try await anonymous.login().get("/voice/api/v2/transaction/history?count=\(count)")
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "validation_error")
        }
    }
}
