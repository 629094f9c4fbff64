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

extension AmbientSessionTests {
    @Test("the content of an encounter joins all its ambient sessions", .covers("U-23"))
    func encounters() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            let context = #"{"sections":[{"loinc":"10164-2"}]}"#
            let path = "/api/v1/ambient/encounter/v-1/content"
            let open = try await client.ambientSession(#"{"encounter_id":"v-1"}"#)
            #expect(try await client.get(path).errorID == "content_not_ready")
            #expect(try await client.get("/api/v1/ambient/encounter/v-1/structured-data").status == 412)
            #expect(try await client.get("/api/v1/ambient/encounter/v-2/content").status == 404)
            let first = try await client.visit(#"{"encounter_id":"v-1"}"#, context: context, seconds: 15)
            let second = try await client.visit(#"{"encounter_id":"v-1"}"#, context: context, seconds: 70)
            func summary(_ path: String) async throws -> [String] {
                guard case .array(let items)? = try await client.get(path).json["summary"] else { return [] }
                return items.compactMap { $0["content"]?.stringValue }
            }
            let own = "\(TestScribeClient.ambient)/\(second)/content"
            let (earlier, later) = (
                try await summary("\(TestScribeClient.ambient)/\(first)/content"), try await summary(own)
            )
            #expect(earlier != later)
            #expect(try await summary("\(own)?cumulative=true") == ["\(earlier[0])\n\(later[0])"])
            #expect(try await summary("\(TestScribeClient.ambient)/\(first)/content?cumulative=true") == earlier)
            #expect(try await summary(path) == ["\(earlier[0])\n\(later[0])"])
            #expect(try await client.get("\(own)?cumulative=maybe").status == 400)
            #expect(try await client.get("/api/v1/ambient/encounter/v-1/structured-data").status == 200)
            #expect(try await client.ambientStatus(open) == "created")
        }
    }

    @Test(
        "uploaded stretches of an ambient session are one recording in spoken order, each once",
        .covers("U-24", "U-31"))
    func order() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let stretches = [
                ("09:14:00", 30.0), ("09:12:00", 20), ("09:13:00", 5), ("09:13:00", 10), ("09:13:00", 10),
                ("09:12:00", 3),
            ]
            for (time, seconds) in stretches {
                let audio = TestAudio.wav(seconds: seconds, tone: Int(seconds), rate: 16_000)
                #expect(try await client.record(id, at: "2026-05-10T\(time).123456789Z", audio).status == 200)
            }
            #expect(try await client.finishAmbient(id) == "completed")
            guard case .array(let items)? = try await client.ambient(id, "transcript").json["final_transcript"],
                case .array(let recordings)? = try await client.ambient(id, "recording").json["recordings"]
            else { throw ScribeError.resultNotFound }
            #expect(recordings.count == 3)
            #expect(recordings.map { $0["sequence_number"] } == [.integer(1), .integer(2), .integer(3)])
            let starts = items.compactMap { $0["start_time"]?.stringValue }
            #expect(starts.first == "2026-05-10T09:12:00.123000000Z")
            #expect(starts == starts.sorted())
            // 20 s, 10 s of the longer one, and 30 s in two pieces.
            #expect(items[1]["start_offset"]?["seconds"] == .integer(20))
            #expect(items[2]["start_offset"]?["seconds"] == .integer(30))
            #expect(items.last?["end_offset"]?["minutes"] == .integer(1))
            let order = items.compactMap { $0["recording_id"]?.stringValue }.removingDuplicates()
            #expect(order == recordings.compactMap { $0["recording_id"]?.stringValue })
            #expect(items.allSatisfy { $0["lang_id"] == .string("en") })
        }
    }

    @Test("an offline recording needs a start time and 16 kHz WAV audio, and is stored whole", .covers("U-30"))
    func offline() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let audio = TestAudio.wav(seconds: 2, rate: 16_000)
            let path = "\(TestScribeClient.ambient)/\(id)/audio"
            #expect(try await client.send(.post, path, body: audio).status == 400)
            for time in ["", "yesterday", "2026-05-10", "99999-01-01T00:00:00Z", "2026-05-10T09:12:33.Z"] {
                #expect(try await client.record(id, at: time, audio).status == 400, "\(time)")
            }
            let odd =
                audio.prefix(12) + (0..<40).flatMap { _ in Data("JUNK".utf8) + Data(count: 4) } + audio.dropFirst(12)
            for wrong in [
                Data(), Data("RIFF".utf8), TestAudio.wav(seconds: 2), audio.prefix(43), Data(count: 70_000),
                audio.dropLast(), audio.prefix(20_000), odd,
            ] {
                #expect(try await client.record(id, at: "2026-05-10T09:12:33Z", wrong).status == 400)
            }
            for hash in ["x", String(repeating: "0", count: 64)] {
                let answer = try await client.record(id, at: "2026-05-10T09:12:33Z", audio, hash: hash)
                #expect(answer.errorID == "invalid_encryption_hash")
            }
            let large = HTTPFields([
                .init(name: .startTime, value: "2026-05-10T09:12:33Z"), .init(name: .contentLength, value: "268435457"),
            ])
            #expect(try await client.send(.post, path, headers: large).status == 413)
            // Nothing of it counts.
            #expect(try await client.ambientStatus(id) == "created")
            #expect(try await client.finishAmbient(id) == "skipped")
            // Days later, one after the other.
            for time in ["2026-05-01T09:12:33+05:30", "2026-05-02T09:12:33Z"] {
                let late = try await client.ambientSession()
                #expect(try await client.record(late, at: time, audio).status == 200)
                #expect(try await client.finishAmbient(late) == "completed")
            }
        }
    }

    @Test(
        "structured data lists the spoken diagnoses, with codes from the context or certain ones",
        .covers("U-25", "U-39"))
    func diagnoses() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            let given = #"""
                {"diagnoses":{"values":[
                    {"codes":[{"type":"ICD10","code":"J45.20","description":"Asthma, mild (intermittent)"},{"type":"IMO","code":"7"}],"diagnosis_note":"Known."},
                    {"codes":[{"type":"SNOMED","code":"38341003","description":"Hypertension"}]},
                    {"codes":[{"type":"IMO","code":"5","description":"Something else"}]},
                    {"codes":[{"type":"ICD10","code":"E11.9","description":"Type 2 diabetes mellitus"}]}]}}
                """#
            let id = try await client.visit(context: given)
            guard
                case .array(let values)? = try await client.ambient(id, "structured-data")
                    .json["structured_data"]?["diagnoses"]?["values"]
            else { throw ScribeError.resultNotFound }
            #expect(values.first?["diagnosis_note"] == .string("Known."))
            #expect(
                values.first?["codes"]
                    == .array([
                        .object([
                            "type": .string("ICD10"), "code": .string("J45.20"),
                            "description": .string("Asthma, mild (intermittent)"),
                        ]),
                        .object(["type": .string("IMO"), "code": .string("7"), "description": .string("")]),
                    ]))
            let text = "\(values)"
            #expect(!text.contains("E11.9") && !text.contains("Something else"))
            #expect(
                values.contains {
                    $0["codes"]
                        == .array([
                            .object([
                                "type": .string("SNOMED"), "code": .string("38341003"),
                                "description": .string("Hypertension"),
                            ])
                        ])
                }, "it comes back as it was given")
            #expect(!text.contains("I10"), "and is mapped to nothing")
            #expect(values.allSatisfy { $0["laterality_indicator"] != nil && $0["post_coord_lex_flag"] != nil })
        }
    }

    @Test(
        "an ambient session's recordings are WAV files behind expiring links, and are deleted after a week",
        .covers("U-26"))
    func recordings() async throws {
        let server = try TestServer.ambient()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let audio = TestAudio.wav(seconds: 50, rate: 16_000)
            try #require(try await client.record(id, at: "2026-05-10T09:12:33Z", audio).status == 200)
            #expect(try await client.ambient(id, "recording").errorID == "recording_not_ready")
            try #require(try await client.finishAmbient(id) == "completed")
            let now = Int(manual.now.timeIntervalSince1970)
            for (query, lifetime, download) in [
                ("", 900, false), ("?download=false", 900, false), ("?download=true", 3600, true),
            ] {
                let answer = try await client.ambient(id, "recording\(query)")
                #expect(answer.json["is_streamable"] == .bool(true))
                #expect(answer.json["recordings"]?.first?["expires_at"] == .integer(Int64(now + lifetime)))
                let path =
                    try "/"
                    + answer["recordings.0.presigned_url"].split(separator: "/").dropFirst(2).joined(separator: "/")
                // Without a token.
                let all = try await anonymous.get(path)
                #expect(all.status == 200)
                #expect(all.body == audio)
                #expect((all.headers[.contentDisposition] != nil) == download)
                for (range, bytes) in [
                    ("bytes=0-43", 0..<44), ("bytes=40-700000", 40..<700_001),
                    ("bytes=-10", (audio.count - 10)..<audio.count),
                ] {
                    let part = try await anonymous.get(path, headers: [.range: range])
                    #expect(part.status == 206)
                    #expect(part.body == audio[bytes])
                }
                let beyond = try await anonymous.get(path, headers: [.range: "bytes=9999999-"])
                #expect(beyond.status == 416)
                #expect(beyond.headers[.contentRange] == "bytes */\(audio.count)")
                #expect(try await anonymous.get(path + "x").status == 403)
            }
            let path =
                try "/"
                + (try await client.ambient(id, "recording?download=true"))["recordings.0.presigned_url"].split(
                    separator: "/"
                ).dropFirst(2).joined(separator: "/")
            manual.advance(by: .seconds(3601))
            #expect(try await anonymous.get(path).status == 403)
            let later = try await anonymous.clinician()
            #expect(try await later.ambient(id, "recording?download=maybe").status == 400)
            manual.advance(by: .seconds(7 * 86_400 - 3605))
            let last = try await anonymous.clinician().ambient(id, "recording?download=true")
            #expect(last.status == 200)
            manual.advance(by: .seconds(10))
            let gone = try await anonymous.clinician().ambient(id, "recording")
            #expect(gone.status == 410)
            #expect(gone.errorID == "recording_expired")
            let link =
                try "/" + last["recordings.0.presigned_url"].split(separator: "/").dropFirst(2).joined(separator: "/")
            #expect(try await anonymous.get(link).status == 410)
        }
    }

    @Test("reading an ambient recording whose file was deleted is 404")
    func deletedFile() async throws {
        let server = try TestServer.ambient()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.visit(seconds: 2)
            let answer = try await client.ambient(id, "recording")
            let recording = try answer["recordings.0.recording_id"]
            let link =
                try "/" + answer["recordings.0.presigned_url"].split(separator: "/").dropFirst(2).joined(separator: "/")
            let path = "/m-prod-ekascribe-batch/sessions/\(id)/\(recording)-000001.wav"
            let eka = try await anonymous.login()
            #expect(
                try await eka.send(.delete, path, headers: eka.signer().sign("DELETE", path, at: now)).status == 204)
            #expect(try await anonymous.get(link).status == 404)
        }
    }
}
