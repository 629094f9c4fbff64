import Basics
import Foundation
import HTTPTypes
import ScribeRuntime
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct ConsultationTests {
    @Test(
        "init, upload, stop, commit and poll give transcript and note",
        .covers(
            "C-01", "C-02", "C-03", "C-04", "C-05", "C-12", "C-13", "C-17", "C-31", "C-32", "C-35", "C-43", "C-55",
            "C-79"
        ),
        arguments: Transport.allCases
    )
    func wholeFlow(transport: Transport) async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run(transport) { anonymous in
            let client = try await anonymous.login()
            let started = try await client.initialise("i-1", #","output_format_template":[{"template_id":"soap"}]"#)
            #expect(started.status == 201)
            #expect(try started["b_id"] == "b-demo")
            #expect(try started["oid"] == "o-demo")
            #expect(try started["uuid"] == "u-demo")
            for name in ["1.m4a", "2.m4a"] {
                let answer = try await client.upload(name, of: "i-1", at: now)
                #expect(answer.status == 200)
                #expect(answer.headers[.eTag]?.hasPrefix("\"") == true)
            }
            #expect(try await client.list("stop", "i-1", ["1.m4a", "2.m4a"]).status == 200)
            #expect(try await client.list("commit", "i-1", ["1.m4a", "2.m4a"]).status == 200)
            let result = try await client.status("i-1")
            #expect(result.status == 200)
            #expect(try result["data.output.0.template_id"] == "soap")
            #expect(try result["data.output.0.status"] == "success")
            #expect(try result["data.template_results.custom.0.document_id"] == result["data.output.0.document_id"])
            let transcript = try #require(
                Data(base64Encoded: result["data.template_results.transcript.0.value"])
            )
            #expect(
                String(decoding: transcript, as: UTF8.self) == """
                    I have had a fever for three days and a dry cough since Monday.
                    I have a history of asthma and I was diagnosed with hypertension in 2019.
                    """
            )
        }
    }

    @Test("stop and commit can be repeated, and a commit without a stop is both", .covers("C-17", "C-18", "C-27"))
    func repetition() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try #require(try await client.initialise("i-1").status == 201)
            _ = try await client.upload("1.m4a", of: "i-1", at: now)
            for _ in 0..<3 { #expect(try await client.list("commit", "i-1", ["1.m4a"]).status == 200) }
            #expect(try await client.status("i-1").status == 200)
            for verb in ["stop", "commit", "stop"] {
                let answer = try await client.list(verb, "i-1", ["1.m4a"])
                #expect(answer.status == 200)
                #expect(answer.json["error"] == nil)
            }
            #expect(try await client.status("i-1").status == 200)
        }
    }

    @Test("a repeated init is 200 before any other call, and 409 for another request or afterwards", .covers("C-03"))
    func duplicateInit() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            #expect(try await client.initialise("t").status == 201)
            let replay = try await client.initialise("t")
            #expect(replay.status == 200)
            #expect(try replay["b_id"] == "b-demo")
            let other = try await client.post(
                "/voice/api/v2/transaction/init/t", #"{"transfer":"vaded","s3_url":"s3://b/elsewhere"}"#
            )
            #expect(other.status == 409)
            #expect(try other["error.code"] == "txn_already_initialized")
            _ = try await client.list("stop", "t", [])
            #expect(try await client.initialise("t").status == 409)
        }
    }

    @Test("a transaction without audio ends as no_audio", .covers("C-22", "C-41", "C-48"))
    func noAudio() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            #expect(try await client.list("stop", "t", []).status == 200)
            #expect(try await client.list("commit", "t", []).status == 200)
            let result = try await client.status("t", headers: [.flavour: "ScribeIOS"])
            #expect(result.status == 200)
            #expect(try result["data.output.0.status"] == "failure")
            #expect(try result["data.output.0.errors.0.code"] == "no_audio")
        }
    }

    @Test(
        "a failed transaction has the HTTP status and the words that each client expects",
        .covers("C-33", "C-39", "C-48", "C-49", "C-50"),
        arguments: [
            ("ScribeIOS", "", 200, "failure"), ("android", "", 200, "failure"), ("scribe-android", "", 200, "failure"),
            ("", "okhttp/4.12", 200, "failure"), ("", "EkaCare-DotNet-SDK/1.0", 200, "failed"),
            ("", "", 500, "failure"), ("io", "", 500, "failure"), ("ekascribe-web", "", 500, "failure"),
            ("", "python-requests/2.32", 500, "failure"),
        ]
    )
    func allFailed(flavour: String, userAgent: String, status: Int, word: String) async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", #","patient_details":{"visit_id":"fixture:no-speech"}"#, at: now)
            var headers = HTTPFields()
            if !flavour.isEmpty { headers[.flavour] = flavour }
            if !userAgent.isEmpty { headers[.userAgent] = userAgent }
            let result = try await client.status("t", headers: headers)
            #expect(result.status == status)
            #expect(try result["data.output.0.status"] == word)
            #expect(try result["data.template_results.transcript.0.status"] == word)
            #expect(result.optional("error.code") == (status == 500 ? "output_not_available" : nil))
        }
    }

    @Test("a poll without a flavour gets the answer of the flavour that init named")
    func storedFlavour() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation(
                "t", #","patient_details":{"visit_id":"fixture:no-speech"}"#, at: now, headers: [.flavour: "android"]
            )
            #expect(try await client.status("t").status == 200)
        }
    }

    @Test(
        "the shipped fixtures produce each outcome of a transaction", .covers("C-39"),
        arguments: [
            ("no-speech", 500, "no_speech"), ("undecodable", 500, "undecodable_audio"),
            ("recogniser-down", 500, "transcription_failed"), ("timeout", 500, "transcription_timeout"),
            ("no-such-fixture", 500, "unknown_fixture"), ("partial", 206, nil), ("follow-up", 200, nil),
        ] as [(String, Int, String?)]
    )
    func fixtures(name: String, status: Int, code: String?) async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", #","additional_data":{"fixture":"fixture:\#(name)"}"#, at: now)
            let result = try await client.status("t")
            #expect(result.status == status)
            #expect(result.optional("data.output.0.errors.0.code") == code)
            if status == 206 {
                #expect(try result["data.output.0.status"] == "partial_success")
                #expect(try result["data.output.0.warnings.0.code"] == "low_confidence")
            }
        }
    }

    @Test("an unreadable chunk among others gives 206 and a warning that names the file", .covers("C-41"))
    func partial() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            #expect(try await client.upload("1.m4a", of: "t", at: now).status == 200)
            #expect(try await client.upload("2.m4a", of: "t", Data(repeating: 1, count: 200), at: now).status == 200)
            #expect(try await client.upload("3.m4a", of: "t", Data(), at: now).status == 200)
            _ = try await client.list("commit", "t", ["1.m4a", "2.m4a", "3.m4a"])
            let result = try await client.status("t")
            #expect(result.status == 206)
            let warnings = try [0, 1].map { try result["data.output.0.warnings.\($0).code"] }
            #expect(warnings == ["empty_audio", "undecodable_audio"])
            #expect(try result["data.output.0.warnings.1.msg"].contains("2.m4a"))
        }
    }

    @Test("a full recording is stored and never processed, also after the end", .covers("C-26"))
    func fullAudio() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            let before = try await client.status("t")
            #expect(try await client.upload("full_audio.m4a_", of: "t", at: now).status == 200)
            #expect(try await client.upload("full_audio.mp3", of: "t", at: now).status == 200)
            #expect(try await client.status("t")["data.output.0.value"] == before["data.output.0.value"])
        }
    }

    @Test("a commit with more files after the end processes all files")
    func largerCommit() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            let first = try await client.status("t")
            _ = try await client.upload("2.m4a", of: "t", at: now)
            #expect(try await client.status("t")["data.output.0.value"] == first["data.output.0.value"])
            #expect(try await client.list("commit", "t", ["2.m4a"]).status == 200)
            let second = try await client.status("t")
            #expect(second.status == 200)
            #expect(try second["data.output.0.document_id"] == first["data.output.0.document_id"])
            #expect(try second["data.output.0.value"] != first["data.output.0.value"])
        }
    }

    @Test("a repeated commit processes audio that came late or replaced an unreadable file")
    func sameCommitWithNewAudio() async throws {
        var server = try TestServer()
        server.configuration.jobs.objectWait = .zero
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            _ = try await client.upload("1.m4a", of: "t", Data(repeating: 7, count: 200), at: now)
            _ = try await client.list("commit", "t", ["1.m4a", "2.m4a"])
            let first = try await client.status("t")
            #expect(first.status == 500)
            #expect(try first["data.output.0.errors.0.code"] == "audio_missing")
            #expect(try first["data.output.0.errors.1.code"] == "undecodable_audio")
            for name in ["1.m4a", "2.m4a"] { _ = try await client.upload(name, of: "t", at: now) }
            #expect(try await client.list("commit", "t", ["1.m4a", "2.m4a"]).status == 200)
            #expect(try await client.status("t").status == 200)
        }
    }

    @Test(
        "requested templates are in output and in their list, each once, and unknown ids give notes",
        .covers("C-31", "C-32", "C-38"))
    func templates() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let wanted = ["clinical_notes_template", "eka_emr_template", "transcript_template", "mine", "mine"]
                .map { #"{"template_id":"\#($0)","template_name":"Name"}"# }.joined(separator: ",")
            try await client.consultation("t", #","output_format_template":[\#(wanted)]"#, at: now)
            let result = try await client.status("t")
            #expect(result.status == 200)
            let ids = try (0...3).map { try result["data.output.\($0).template_id"] }
            #expect(ids == ["clinical_notes_template", "eka_emr_template", "transcript_template", "mine"])
            #expect(!result.has("data.output.4"))
            let types = try (0...3).map { try result["data.output.\($0).type"] }
            #expect(types == ["markdown", "eka_emr", "transcript", "markdown"])
            #expect(try result["data.template_results.integration.0.template_id"] == "eka_emr_template")
            #expect(try result["data.template_results.integration.0.document_type"] == "integration")
            #expect(try result["data.template_results.custom.2.template_id"] == "mine")
            #expect(try result["data.template_results.transcript.0.lang"] == "raw")
        }
    }
}
