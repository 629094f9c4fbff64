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
    @Test("feedback on an ambient note is accepted once, with whole numbers on any scale", .covers("U-27", "U-28"))
    func feedback() async throws {
        try await TestServer.ambient().run { anonymous in
            let client = try await anonymous.clinician()
            func body(_ least: String, _ most: String, _ rating: String, _ comment: String = "") -> String {
                let comments = comment.isEmpty ? "" : #","qualitative_comments":"\#(comment)""#
                return
                    #"{"ratingFeedback":{"min_rating":\#(least),"max_rating":\#(most),"rating":\#(rating)}\#(comments)}"#
            }
            let open = try await client.ambientSession()
            #expect(try await client.feedback(open, body("1", "5", "5")).status == 412)
            let id = try await client.visit(seconds: 3)
            let long = String(repeating: "👩‍⚕️", count: 2001)
            for wrong in [
                body("5", "5", "5"), body("5", "1", "3"), body("1", "5", "6"), body("1", "5", "0"),
                body("1", "5", "3.5"),
                body("1", "5", #""3""#), body("1", "5", "null"),
                body("1", "5", "3", String(repeating: "a", count: 2001)),
                body("1", "5", "3", long), "{}", #"{"qualitative_comments":"good"}"#, "7",
            ] {
                let answer = try await client.feedback(id, wrong)
                #expect(answer.status == 400, "\(wrong.prefix(100))")
                #expect(answer.errorID == "invalid_feedback_request")
            }
            let other = try await client.feedback(id, body("1", "5", "4"), on: "transcript")
            #expect(other.status == 400)
            #expect(other.errorID == "unsupported_feedback_entity")
            let taken = try await client.feedback(id, body("1", "5", "5", String(long.dropLast())))
            #expect(taken.status == 200)
            #expect(try taken["feedback_id"].isEmpty == false)
            let second = try await client.feedback(id, body("0", "1", "1"))
            #expect(second.status == 409)
            #expect(second.errorID == "feedback_already_submitted")
            for (least, most, rating) in [("-2", "2", "-2"), ("0", "1", "0")] {
                let next = try await client.visit(seconds: 3)
                #expect(try await client.feedback(next, body(least, most, rating)).status == 200)
            }
        }
    }

    @Test("429 and 503 of the ambient API can be provoked, and have a Retry-After", .covers("U-35"))
    func forced() async throws {
        try await TestServer.ambient().run { anonymous in
            let limited = try await anonymous.clinician("dr", of: "demo-partner-limited")
            let full = try await limited.post("\(TestScribeClient.ambient)/create", "{}")
            #expect(full.status == 429)
            #expect(full.errorID == "rate_limit_exceeded")
            #expect(full.headers[.retryAfter] != nil)
            let client = try await anonymous.clinician()
            let refused = try await client.post(
                "\(TestScribeClient.ambient)/create", #"{"encounter_id":"fixture:init-refused"}"#)
            #expect(refused.status == 503)
            #expect(refused.json["code"] == .integer(503))
            let commit = try await client.ambientSession(#"{"encounter_id":"fixture:commit-refused"}"#)
            #expect(try await client.endAmbient(commit).status == 503)
            let socket = try await client.ambientSession(#"{"encounter_id":"fixture:upload-refused"}"#)
            var upgrade = AmbientSocketTests.upgrade
            upgrade[.ambientSession] = socket
            #expect(try await client.get("/ws/stream", headers: upgrade).status == 503)
            let failing = try await client.ambientSession(#"{"encounter_id":"fixture:recogniser-down"}"#)
            try #require(try await client.record(failing).status == 200)
            #expect(try await client.finishAmbient(failing) == "failed")
            #expect(try await client.ambient(failing, "content").status == 412)
        }
    }

    @Test("an ambient session that is never ended expires after a week")
    func expiry() async throws {
        let server = try TestServer.ambient()
        let manual = server.manual
        try await server.run { anonymous in
            let id = try await anonymous.clinician().ambientSession()
            manual.advance(by: .seconds(7 * 86_400 - 1))
            let client = try await anonymous.clinician()
            #expect(try await client.ambientStatus(id) == "created")
            manual.advance(by: .seconds(2))
            #expect(try await client.ambientStatus(id) == "failed")
            let answer = try await client.endAmbient(id)
            #expect(answer.status == 412)
            #expect(answer.errorID == "ambient_session_expired")
        }
    }

    @Test("the ambient API lists its codes, and answers an unknown path with its own 404")
    func lists() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.clinician()
            for (path, name, count) in [
                ("encounter-types", "encounter_types", 3), ("visit-types", "visit_types", 4),
                ("provider-roles", "provider_roles", 2), ("specialties", "specialties", 120), ("loincs", "loincs", 35),
            ] {
                guard case .array(let items)? = try await client.get("/api/v1/info/\(path)").json[name] else {
                    throw ScribeError.resultNotFound
                }
                #expect(items.count == count)
                #expect(items.allSatisfy { $0["code"]?.stringValue != nil })
            }
            for path in [
                "ambient/nothing", "ambient/session/x/metadata", "info/nothing", "auth/nothing", "user/nothing",
            ] {
                let answer = try await client.get("/api/v1/\(path)")
                #expect(answer.status == 404, "\(path)")
                #expect(answer.errorID == "not_found")
            }
            #expect(try await client.get("\(TestScribeClient.ambient)/create").status == 405)
        }
    }
}
