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

struct FeedbackRoutesTests {
    static let path = "/voice/api/v1/transaction/t/feedback"

    static func body(_ entity: String = "content", rating: String = "4") -> String {
        #"{"entity":"\#(entity)","ratingFeedback":{"min_rating":1,"max_rating":5,"rating":\#(rating)},"#
            + #""qualitative_comments":"good\u0000!"}"#
    }

    @Test("feedback is given once for each entity and can be read back", arguments: Transport.allCases)
    func submit(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let refused = try await client.post(Self.path, Self.body(rating: "6"))
            #expect(refused.status == 400)
            let given = try await client.post(Self.path, Self.body())
            #expect(given.status == 200)
            #expect(try given["feedback_id"].hasPrefix("fb_"))
            #expect(try given["b_id"] == "b-demo")
            let second = try await client.post(Self.path, Self.body())
            #expect(second.status == 409)
            #expect(try second["error.code"] == "feedback_already_submitted")
            #expect(try await client.post(Self.path, Self.body("transcript")).status == 200)
            let list = try await client.get(Self.path)
            #expect(try list["data.0.feedback_id"] == given["feedback_id"])
            #expect(list.json["data"] != nil)
            #expect(try list["data.0.qualitative_comments"] == "good\u{FFFD}!")
            #expect(try list["data.1.entity"] == "transcript")
        }
    }

    @Test(
        "a rating that is no integer of its scale is refused, and feedback stays possible",
        arguments: [
            body(rating: "0"), body(rating: "4.5"), body(rating: "\"4\""), body(""), "{}", #"{"entity":"content"}"#,
        ]
    )
    func invalid(body: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("t")
            let answer = try await client.post(Self.path, body)
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "validation_error")
            #expect(try await client.post(Self.path, Self.body()).status == 200, "the one slot is still free")
        }
    }

    @Test("feedback on an unknown transaction, or on another business's, is 404")
    func foreign() async throws {
        try await TestServer().run { anonymous in
            _ = try await anonymous.login().initialise("t")
            let other = try await anonymous.login("dev-client-2", "dev-secret-2")
            #expect(try await other.post(Self.path, Self.body()).status == 404)
            #expect(try await other.get(Self.path).status == 404)
        }
    }
}
