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

struct HistoryTests {
    @Test(
        "history lists all transactions, newest first, in the fields that clients decode",
        .covers("C-98", "C-99", "C-100", "C-101"),
        arguments: ["", "/"])
    func list(slash: String) async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            for id in ["a", "b", "c"] {
                _ = try await client.initialise(
                    id, #","version":"2","patient_details":{"oid":"p-\#(id)","age":"45","username":"Asha"}"#,
                    headers: [.flavour: "ScribeIOS"]
                )
                manual.advance(by: .seconds(1))
            }
            let answer = try await client.get("/voice/api/v2/transaction/history\(slash)")
            #expect(answer.status == 200)
            #expect(try answer["status"] == "success")
            #expect(answer.json["retrieved_count"] == .integer(3))
            #expect(try (0...2).map { try answer["data.\($0).txn_id"] } == ["c", "b", "a"])
            #expect(try answer["data.2.created_at"] == "2026-05-10T09:12:33Z")
            #expect(try answer["data.0.flavour"] == "ScribeIOS")
            #expect(try answer["data.0.user_status"] == "init")
            #expect(try answer["data.0.processing_status"] == "in-progress")
            guard case .array(let rows)? = answer.json["data"] else {
                Issue.record("no list of transactions")
                return
            }
            #expect(rows[0]["patient_details"]?["age"] == .integer(45), "an integer, whatever was sent")
            let two = try await client.get("/voice/api/v2/transaction/history?count=2")
            #expect(two.json["retrieved_count"] == .integer(2))
            let one = try await client.get("/voice/api/v2/transaction/history?oid=p-b")
            #expect(try one["data.0.txn_id"] == "b")
            #expect(!one.has("data.1.txn_id"))
        }
    }

    @Test("history lists every transaction even if long patient details make its pages small")
    func longDetails() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.login()
            let text = String(repeating: "x", count: 60_000)
            for number in 10...31 {
                let details = #","patient_details":{"oid":"p-1","notes":"\#(text)"}"#
                #expect(try await client.initialise("i-\(number)", details).status == 201)
                manual.advance(by: .seconds(1))
            }
            for (query, count) in [
                ("", 22), ("?oid=p-1", 10), ("?oid=p-1&count=30", 22), ("?count=5", 5), ("?count=7", 7),
                ("?count=1", 1),
            ] {
                let answer = try await client.get("/voice/api/v2/transaction/history\(query)")
                #expect(answer.json["retrieved_count"] == .integer(Int64(count)), "\(query)")
                let ids = try (0..<count).map { try answer["data.\($0).txn_id"] }
                #expect(ids == (0..<count).map { "i-\(31 - $0)" })
            }
        }
    }

    @Test("history gives a patient's name and sex under the field names of both APIs", .covers("C-99"))
    func bothNames() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            for (id, patient) in [
                ("a", #"{"name":"Asha","gender":"F"}"#), ("b", #"{"username":"Asha","biologicalSex":"F"}"#),
            ] {
                _ = try await client.initialise(id, #","patient_details":\#(patient)"#)
            }
            let answer = try await client.get("/voice/api/v2/transaction/history")
            for row in 0...1 {
                for name in ["username", "name"] {
                    #expect(try answer["data.\(row).patient_details.\(name)"] == "Asha")
                }
                for name in ["biologicalSex", "gender"] {
                    #expect(try answer["data.\(row).patient_details.\(name)"] == "F")
                }
            }
        }
    }

    @Test(
        "every read route of the transaction API gives the same bytes for the same state",
        .covers("C-117", "C-118", "C-119"))
    func sameBytes() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: manual.now)
            #expect(try await client.status("t").status == 200)
            let put = try await client.send(
                .put, "/voice/api/v2/config", headers: [.contentType: "application/json"],
                body: Data(#"{"data":{"b":{"z":1,"y":2},"a":[{"d":1,"c":2}]}}"#.utf8))
            #expect(put.status == 200)
            for path in [
                "/voice/api/v2/config", "/voice/api/v1/sessions/t", "/voice/api/v2/transaction/t",
                "/voice/api/v3/status/t",
                "/voice/api/v2/transaction/history", "/voice/api/v1/template", "/voice/api/v1/template/section",
                "/voice/api/v1/documents?session_id=t", "/voice/api/v1/transaction/t/feedback",
            ] {
                let first = try await client.get(path)
                #expect(first.status == 200, "\(path)")
                for _ in 1...5 { #expect(try await client.get(path).text == first.text, "\(path)") }
            }
            let config = try await client.get("/voice/api/v2/config")
            #expect(config.json["data"]?["integrations"] == .array([]))
            #expect(config.json["data"]?["supported_integrations"] == .array([]))
            let patched = try await client.send(
                .patch, "/voice/api/v2/transaction/t", body: Data(#"{"mode":"dictation"}"#.utf8))
            #expect(try patched["txn_id"] == "t")
            #expect(try patched["b_id"] == patched["data.b_id"])
        }
    }

    @Test("history gives all patient details but the age as texts", .covers("C-99"))
    func patientTexts() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise(
                "t",
                #","patient_details":{"oid":1234567,"mobile":98.5,"visit_id":null,"username":"A","extra":{"a":1}}"#,
                headers: [try #require(HTTPField.Name("version")): "9.9"])
            let answer = try await client.get("/voice/api/v2/transaction/history?oid=1234567")
            #expect(try answer["data.0.version"] == "9.9")
            guard case .array(let rows)? = answer.json["data"] else {
                Issue.record("no rows")
                return
            }
            #expect(
                rows.first?["patient_details"]
                    == .object([
                        "oid": .string("1234567"), "mobile": .string("98.5"), "visit_id": .null,
                        "username": .string("A"), "name": .string("A"),
                    ]))
        }
    }

    @Test("the history of a business without transactions is an empty list")
    func empty() async throws {
        try await TestServer().run { anonymous in
            let answer = try await anonymous.login().get("/voice/api/v2/transaction/history")
            #expect(answer.status == 200)
            #expect(answer.json["data"] == .array([]))
        }
    }

    @Test("a long history is complete and in order, though the server reads it in pages")
    func long() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            for number in 0..<1203 {
                // Several at the same time, too.
                if number.isMultiple(of: 7) { manual.advance(by: .seconds(1)) }
                #expect(try await client.initialise("t-\(number)").status == 201)
            }
            let path = "/voice/api/v2/transaction/history"
            for count in [nil, 1, 500, 501, 1000, 1203, 5000] as [Int?] {
                let answer = try await client.get(path + (count.map { "?count=\($0)" } ?? ""))
                let expected = min(count ?? .max, 1203)
                #expect(answer.json["retrieved_count"] == .integer(Int64(expected)))
                guard case .array(let rows)? = answer.json["data"] else {
                    Issue.record("no list")
                    continue
                }
                let ids = rows.compactMap { $0["txn_id"]?.stringValue }
                #expect(ids == (0..<1203).reversed().prefix(expected).map { "t-\($0)" })
            }
        }
    }
}
