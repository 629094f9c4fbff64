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

/// What a client may send and build up has an end, which it is told.
struct LimitTests {
    static let inits: [(body: String, field: String)] = [
        (#""output_format_template":[\#(list(101, #"{"template_id":"soap"}"#))]"#, "output_format_template"),
        (#""input_language":[\#(list(21, #""hi""#))]"#, "input_language"),
        (#""input_language":["--output_dir=/"]"#, "input_language"),
        (#""input_language":["\#(String(repeating: "x", count: 200_000))"]"#, "input_language"),
        (#""output_language":"en IN""#, "output_language"),
        (#""client_generated_files":[\#(list(5001, #""1.m4a""#))]"#, "client_generated_files"),
        (#""additional_data":{"a":"\#(String(repeating: "x", count: 66_000))"}"#, "additional_data"),
        (#""patient_details":{"a":"\#(String(repeating: "x", count: 66_000))"}"#, "patient_details"),
        (#""speciality":"\#(String(repeating: "x", count: 2000))""#, "speciality"),
    ]

    static func list(_ count: Int, _ item: String) -> String {
        [String](repeating: item, count: count).joined(separator: ",")
    }

    @Test("an init beyond a limit is refused with the field's name, and stores nothing", arguments: inits)
    func initialise(body: String, field: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.initialise("t", ",\(body)")
            #expect(answer.status == 400)
            #expect(try answer["error.message"].contains("'\(field)'"))
            #expect(try await client.initialise("t").status == 201, "and nothing is left of it")
        }
    }

    @Test("init accepts language codes in every form that clients send")
    func languages() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            for (index, language) in ["en-IN", "hi", "en_US", "eng", "zh-Hans-CN", "", "auto", "multi"].enumerated() {
                let answer = try await client.initialise("t-\(index)", #","input_language":["\#(language)"]"#)
                #expect(answer.status == 201, "\(language)")
            }
        }
    }

    @Test("a transaction may list 5000 files in all, however many requests name them")
    func files() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let names = (1...5000).map { "\($0).m4a" }
            #expect(try await client.list("stop", "t", names).status == 200)
            #expect(try await client.list("stop", "t", names + ["x"]).status == 400)
            // Times are merged over stops that repeat.
            #expect(try await client.list("stop", "t", ["other.m4a"]).status == 400)
            #expect(try await client.list("commit", "t", Array(names[..<1])).status == 200)
            #expect(try await client.list("commit", "t", names + ["x"]).status == 400)
        }
    }

    @Test("a transaction's merged additional data is limited")
    func merging() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            var statuses: [Int] = []
            for number in 0..<5 {
                let text = String(repeating: "x", count: 20_000)
                let answer = try await client.send(
                    .patch, "/voice/api/v2/transaction/t",
                    body: Data(#"{"additional_data":{"\#(number)":"\#(text)"}}"#.utf8))
                statuses.append(answer.status)
            }
            #expect(statuses == [200, 200, 200, 400, 400])
            let path = "/voice/api/v1/sessions/t/context"
            statuses = []
            for number in 0..<4 {
                let item = #"{"id":"\#(number)","x":"\#(String(repeating: "x", count: 100_000))"}"#
                let answer = try await client.send(
                    .patch, path, body: Data(#"{"context":{"attachments":[\#(item)]}}"#.utf8))
                statuses.append(answer.status)
            }
            #expect(statuses == [200, 200, 400, 400])
        }
    }

    @Test("the numbers of edits and template sections, and the sizes of texts and transcripts, are limited")
    func others() async throws {
        let now = ManualClock().now
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            #expect(try await client.status("t").status == 200)
            let edits = Self.list(201, #"{"template-id":"transcript","data":"x"}"#)
            let edited = try await client.send(.patch, "/voice/api/v3/status/t", body: Data("[\(edits)]".utf8))
            #expect(edited.status == 400)
            let sections = Self.list(201, #""medications""#)
            let template = #"{"title":"x","section_ids":[\#(sections)]}"#
            #expect(try await client.post("/voice/api/v1/template", template).status == 400)
            let section = #"{"title":"x","example":"\#(String(repeating: "x", count: 17_000))"}"#
            #expect(try await client.post("/voice/api/v1/template/section", section).status == 400)
            _ = try await client.initialise("u")
            let transcript = String(repeating: "fever ", count: 90_000)
            let converted = try await client.post(
                "/voice/api/v1/transaction/u/convert-to-template/soap", #"{"transcript":"\#(transcript)"}"#)
            #expect(converted.status == 400)
        }
    }

    @Test("a transaction takes feedback on at most a hundred entities")
    func feedback() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            for number in 1...101 {
                let body =
                    #"{"entity":"e\#(number)","ratingFeedback":{"min_rating":0,"max_rating":1,"rating":1}}"#
                let answer = try await client.post("/voice/api/v1/transaction/t/feedback", body)
                #expect(answer.status == (number <= 100 ? 200 : 400))
            }
        }
    }

    @Test("a rating with an extreme number is refused and does not crash the server")
    func rating() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            for number in ["-9223372036854775808", "9223372036854775807", "9007199254740992", "1e300", "1.5"] {
                let answer = try await client.post(
                    "/voice/api/v1/transaction/nope/feedback",
                    #"{"entity":"x","ratingFeedback":{"min_rating":\#(number),"max_rating":5,"rating":4}}"#)
                #expect(answer.status == 400)
            }
        }
    }

    @Test("requests beyond the memory budget are 503 with a Retry-After, and finished requests free memory")
    func bodies() async throws {
        var server = try TestServer()
        server.configuration.memoryBudget = 4096
        try await server.run { client in
            let body = #"{"client_id":"\#(String(repeating: "x", count: 9000))","client_secret":"x"}"#
            let refused = try await client.post("/connect-auth/v1/account/login", body)
            #expect(refused.status == 503)
            #expect(refused.headers[.retryAfter] == "1")
            for _ in 1...100 { _ = try await client.login() }
        }
    }

    @Test("a login's body that may name a namespace is held once")
    func bodiesOfLogins() async throws {
        var server = try TestServer()
        // Room for the body and not for twice as much: one business may have seven eighths, beyond 4 KB.
        server.configuration.memoryBudget = 12_000
        try await server.run { client in
            let body = #"{"client_id":"\#(String(repeating: "x", count: 9000))","client_secret":"x"}"#
            let refused = try await client.post("/connect-auth/v1/account/login", body)
            #expect(refused.status == 401)
        }
    }

    @Test(
        "stop and commit beyond the memory budget are 503 with a Retry-After for Android too",
        arguments: ["stop", "commit"])
    func textErrors(verb: String) async throws {
        var server = try TestServer()
        server.configuration.memoryBudget = 4096
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let files = (0..<1200).map { #""\#($0).m4a""# }.joined(separator: ",")
            let refused = try await client.post(
                "/voice/api/v2/transaction/\(verb)/t", #"{"audio_files":[\#(files)]}"#, headers: [.flavour: "android"])
            #expect(refused.status == 503)
            #expect(refused.headers[.retryAfter] == "1")
            #expect(try refused["error"].hasPrefix("Too much"))
            #expect(try refused["txn_id"] == "t")
        }
    }

    @Test("impossible chunk times are ignored, and the chunk's transcript can be read")
    func times() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            _ = try await client.upload("1.m4a", of: "t", at: now)
            for time in ["1e308", "-5", "86401", "\"99:99:99:99\""] {
                let answer = try await client.post(
                    "/voice/api/v2/transaction/commit/t",
                    #"{"audio_files":["1.m4a"],"chunk_info":[{"1.m4a":{"st":-1e308,"et":\#(time)}}]}"#)
                #expect(answer.status == 200)
            }
            #expect(try await client.status("t").status == 200)
            #expect(try await client.get("/voice/api/v3/transcript/t/1.m4a").status == 200)
        }
    }

    @Test("a client's quotas limit open transactions and stored bytes, and no other client's")
    func quotas() async throws {
        var server = try TestServer()
        server.configuration.quotas.openTransactions = 2
        server.configuration.quotas.storedBytes = 100_000
        let manual = server.manual
        let limited = server
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let other = try await anonymous.login("dev-client-2", "dev-secret-2")
            for id in ["a", "b"] { #expect(try await client.initialise(id).status == 201) }
            let refused = try await client.initialise("c")
            #expect(try refused["error.code"] == "txn_limit_exceeded")
            #expect(try await other.initialise("c").status == 201)
            #expect(try await client.list("commit", "a", ["1.m4a"]).status == 200)
            #expect(try await client.initialise("c").status == 201, "one is not open any more")
            let audio = Data(count: 60_000)
            let now = manual.now
            #expect(try await client.upload("1.m4a", of: "b", audio, at: now).status == 200)
            #expect(
                try await client.upload("1.m4a", of: "b", audio, at: now).status == 200, "in the place of the first")
            let full = try await client.upload("2.m4a", of: "b", audio, at: now)
            #expect(full.status == 403)
            #expect(full.text.contains("QuotaExceeded"))
            #expect(try await other.upload("2.m4a", of: "c", audio, at: now).status == 200)
            #expect(try limited.objectFiles().count == 2, "what was refused leaves nothing")
            manual.advance(by: .seconds(7201))
            let later = try await anonymous.login()
            for id in ["d", "e"] { #expect(try await later.initialise(id).status == 201, "older ones do not count") }
        }
    }

    @Test("metadata of an S3 object is limited to 2 KB, as on AWS")
    func metadata() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let signer = try await client.signer()
            let path = "/b/k"
            for (length, status) in [(1000, 200), (3000, 400)] {
                let headers = signer.sign(
                    "PUT", path, at: now, extra: [("x-amz-meta-x", String(repeating: "x", count: length))])
                let answer = try await client.send(.put, path, headers: headers, body: Data("x".utf8))
                #expect(answer.status == status)
                if status == 400 { #expect(answer.text.contains("MetadataTooLarge")) }
            }
        }
    }
}
