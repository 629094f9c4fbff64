import Basics
import Foundation
import HTTPTypes
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

/// An operator adds, pauses and removes webhooks of clients.
struct WebhookControlRoutesTests {
    private static let hook =
        #"{"client":"dev-client","style":"alliance","endpoint":"inbox","events":["session.completed"]}"#

    @Test("a webhook that an operator adds is the client's own")
    func added() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let made = try await client.post("/__admin/webhooks", Self.hook)
            #expect(made.status == 201 && made.json["business_id"] == .string("b-demo"))
            #expect(made.json["paused"] == .bool(false) && made.json["signed"] == .bool(false))
            let own = try await client.get("/voice/v1/webhooks").json["webhooks"]?.arrayValue
            #expect(own?.first?["webhook_id"] == made.json["webhook_id"])
            let id = try made["webhook_id"]
            #expect(try await client.send(.delete, "/voice/v1/webhooks/\(id)").status == 204)
            #expect(try await client.send(.delete, "/__admin/webhooks/\(id)").status == 404)
            let other = try await client.post("/__admin/webhooks", Self.hook)["webhook_id"]
            #expect(try await client.send(.delete, "/__admin/webhooks/\(other)").status == 204)
            #expect(try await client.get("/voice/v1/webhooks").json["webhooks"]?.arrayValue?.isEmpty == true)
        }
    }

    @Test("a paused webhook gets no events, but a test, until it goes on")
    func paused() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.post("/__admin/webhooks", Self.hook)["webhook_id"]
            func trigger() async throws -> Int {
                let answer = try await client.post("/__admin/webhooks/trigger", #"{"event":"session.completed"}"#)
                return answer.json["delivery_ids"]?.arrayValue?.count ?? -1
            }
            func pause(_ isPaused: Bool) async throws -> JSONValue? {
                let body = Data(#"{"is_paused":\#(isPaused)}"#.utf8)
                return try await client.send(
                    .patch, "/__admin/webhooks/\(id)", headers: [.contentType: "application/json"], body: body
                ).json["paused"]
            }
            #expect(try await trigger() == 1)
            #expect(try await pause(true) == .bool(true))
            #expect(try await trigger() == 0)
            #expect(try await client.post("/__admin/webhooks/\(id)/test", "{}").status == 202)
            #expect(try await pause(false) == .bool(false))
            #expect(try await trigger() == 1)
        }
    }

    @Test(
        "a webhook that could never work is refused, with the reason",
        arguments: [
            (#"{"style":"alliance","endpoint":"inbox"}"#, "is missing"),
            (#"{"client":"nobody","style":"alliance","endpoint":"inbox"}"#, "no client of this namespace"),
            (#"{"client":"dev-client","style":"aliance","endpoint":"inbox"}"#, "alliance"),
            (
                #"{"client":"dev-client","style":"alliance","endpoint":"inbox","events":["session.complete"]}"#,
                "session.completed"
            ),
            (#"{"client":"dev-client","style":"alliance","endpoint":"ftp://x"}"#, "endpoint"),
            (#"{"client":"dev-client","style":"alliance","endpoint":"inbox","secret":""}"#, "secret"),
            (#"{"client":"dev-client","style":"alliance","endpoint":"inbox","paused":true}"#, "paused"),
            ("[]", "object"),
        ])
    func refused(body: String, reason: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.post("/__admin/webhooks", body)
            #expect(answer.status == 400 && answer.text.contains(reason), "\(answer.text)")
            let list = try await client.get("/__admin/webhooks").json["webhooks"]?.arrayValue
            #expect(list?.isEmpty == true)
        }
    }

    @Test("only true and false pause a webhook, and only one that there is", arguments: ["1", "null", #""true""#])
    func pauseRefused(value: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.post("/__admin/webhooks", Self.hook)["webhook_id"]
            func pause(_ id: String, _ body: String) async throws -> Int {
                try await client.send(
                    .patch, "/__admin/webhooks/\(id)", headers: [.contentType: "application/json"],
                    body: Data(body.utf8)
                ).status
            }
            #expect(try await pause(id, #"{"is_paused":\#(value)}"#) == 400)
            #expect(try await pause(id, "{}") == 400)
            for unknown in ["99", "x", "99999999999999999999"] {
                #expect(try await pause(unknown, #"{"is_paused":true}"#) == 404)
            }
        }
    }
}
