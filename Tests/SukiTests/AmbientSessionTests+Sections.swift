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
    @Test(
        "an ambient section may be named by title, and an unknown title is refused with the known ones", .covers("U-37")
    )
    func sectionTitles() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let path = "\(TestScribeClient.ambient)/\(id)/context"
            let body = #"{"sections":[{"title":"plan"},{"title":"Chief Complaint","loinc":null}]}"#
            let known = try await client.send(.patch, path, body: Data(body.utf8))
            #expect(known.status == 200)
            let codes = ["18776-5", "10154-3"].map { JSONValue.object(["loinc": .string($0)]) }
            #expect(known.json["context"]?["sections"] == .array(codes))
            let unknown = try await client.send(.patch, path, body: Data(#"{"sections":[{"title":"Fate"}]}"#.utf8))
            #expect(unknown.status == 400)
            #expect(unknown.errorID == "invalid_context_request")
            for section in AmbientSection.all {
                #expect(try unknown["message"].contains("\(section.code) \(section.title)"))
            }
            #expect(try await client.send(.patch, path).json["context"]?["sections"] == .array(codes))
        }
    }

    @Test(
        "each requested section of an ambient note has its own facts, and no fact is repeated",
        .covers("U-22"))
    func sections() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            let codes = ["10164-2", "48765-2", "8716-3", "29545-1", "11348-0", "39238-1", "61146-7"]
            let asked = codes.map { #"{"loinc":"\#($0)"}"# }.joined(separator: ",")
            let id = try await client.visit(context: #"{"sections":[\#(asked)]}"#, seconds: 160)
            guard case .array(let summary)? = try await client.ambient(id, "content").json["summary"] else {
                throw ScribeError.resultNotFound
            }
            // In the order in which they were asked for; of goals nothing was said.
            #expect(summary.map { $0["loinc_code"]?.stringValue ?? "" } == codes.dropLast())
            let lines = summary.flatMap { ($0["content"]?.stringValue ?? "").split(separator: "\n") }
            #expect(Set(lines).count == lines.count)
            #expect(summary[1]["content"] == .string("- allergic to penicillin"))
            #expect(summary[2]["content"]?.stringValue?.contains("blood pressure") == true)
            #expect(summary[3]["content"]?.stringValue?.contains("blood pressure") == false)
        }
    }

    @Test("an ambient note's sections follow the clinician's preferences for style and verbosity", .covers("U-13"))
    func preferences() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            func set(_ body: String) async throws -> TestAnswer {
                try await client.send(
                    .patch, "/api/v1/user/preferences",
                    body: Data(#"{"personalization_preference":\#(body)}"#.utf8))
            }
            let defaultCodes = try await set("{}")
            #expect(try defaultCodes["preference.personalization_preference.verbosity"] == "BALANCED")
            let styled = try await set(
                #"{"verbosity":"concise","section_format":[{"loinc":"10164-2","style":"NARRATIVE"}]}"#)
            #expect(try styled["preference.personalization_preference.section_format.0.style"] == "NARRATIVE")
            for wrong in [
                #"{"verbosity":"LOUD"}"#, #"{"section_format":[{"loinc":"8716-3","style":"NARRATIVE"}]}"#,
                #"{"section_format":[{"loinc":"10164-2","style":"SUNG"}]}"#,
                #"{"section_format":[{"loinc":"10164-2"}]}"#, "7",
            ] { #expect(try await set(wrong).status == 400, "\(wrong)") }
            #expect(try await set("{}").json == styled.json)
            let id = try await client.visit()
            let content = try await client.ambient(id, "content").json["summary"]
            guard case .array(let summary)? = content else { throw ScribeError.resultNotFound }
            #expect(summary[0]["content"]?.stringValue?.hasPrefix("- ") == true)
            #expect(summary[1]["content"]?.stringValue?.contains("- ") == false)
        }
    }
}
