import Foundation
import HTTPTypes
import Omi
import ScribeDomain
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

struct OmiRoutesTests {
    private static let upgrade: HTTPFields = [
        .connection: "Upgrade", .upgrade: "websocket", .secWebSocketVersion: "13",
        .secWebSocketKey: "dGhlIHNhbXBsZSBub25jZQ==",
    ]

    private func say(_ text: String, _ client: TestScribeClient) async throws -> String {
        let answer = try await client.post("/v1/transcribe/text", #"{"text":"\#(text)"}"#)
        try #require(answer.status == 200)
        return try answer["conversation_id"]
    }

    @Test(
        "a conversation is listed, ended, read, renamed, assigned, reprocessed and deleted",
        arguments: Transport.allCases)
    func conversation(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.login()
            let nothing = try await client.post("/v1/conversations", "")
            #expect(nothing.status == 404)
            let id = try await say("I am allergic to penicillin.", client)
            let path = "/v1/conversations/\(id)"
            let early = try await client.post("\(path)/reprocess", "")
            #expect(early.status == 409)
            let usual = try await client.get("/v1/conversations")
            #expect(usual.text == "[]")
            let asked = try await client.get("/v1/conversations?statuses=in_progress,completed&limit=5&offset=0")
            #expect(try asked["0.id"] == id)
            let ended = try await client.post("/v1/conversations", "")
            #expect(try ended["conversation.status"] == "completed")
            #expect(try ended["conversation.structured.category"] == "health")
            let read = try await client.get(path)
            #expect(try read["transcript_segments.0.stt_provider"] == "edge_asr")
            for (method, address, body) in [
                (HTTPRequest.Method.get, "\(path)/transcripts", ""), (.get, "\(path)/photos", ""),
                (.get, "\(path)/recording", ""), (.patch, "\(path)/title?title=Penicillin+again", ""),
                (.patch, "\(path)/title", #"{"title":"Penicillin"}"#),
                (.patch, "\(path)/segments/0/assign?assign_type=is_user&value=true", ""),
                (
                    .patch, "\(path)/segments/assign-bulk",
                    #"{"assign_type":"person_id","value":"asha","segment_ids":[]}"#
                ),
                (.post, "\(path)/reprocess", ""),
            ] {
                let answer = try await client.send(method, address, body: Data(body.utf8))
                #expect(answer.status == 200, "\(method) \(address)")
                // Nobody else's.
                let other = try await anonymous.login("dev-client-2", "dev-secret-2")
                let refused = try await other.send(method, address, body: Data(body.utf8))
                #expect(refused.status == 404, "\(method) \(address)")
            }
            let memories = try await client.get("/v3/memories?categories=core")
            #expect(try memories["0.content"] == "Allergic to penicillin")
            #expect(try memories["0.conversation_id"] == id)
            let deleted = try await client.send(.delete, path)
            #expect(deleted.status == 204)
            for method in [HTTPRequest.Method.delete, .get] {
                let gone = try await client.send(method, path)
                #expect(gone.status == 404)
            }
        }
    }

    @Test("a memory is added, changed, published and deleted")
    func memories() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let created = try await client.post("/v3/memories", #"{"content":"likes tea"}"#)
            let path = "/v3/memories/\(try created["id"])"
            for address in ["\(path)?value=likes+coffee", "\(path)/visibility?value=public"] {
                let changed = try await client.send(.patch, address)
                #expect(changed.status == 200)
                let lacking = try await client.send(.patch, String(address.prefix { $0 != "?" }))
                #expect(lacking.status == 422)
            }
            let listed = try await client.get("/v3/memories")
            #expect(try listed["0.content"] == "likes coffee")
            let deleted = try await client.send(.delete, path)
            #expect(deleted.status == 200)
            for (method, address) in [
                (HTTPRequest.Method.delete, path), (.patch, "\(path)?value=x"),
                (.patch, "\(path)/visibility?value=private"),
            ] {
                let answer = try await client.send(method, address)
                #expect(answer.status == 404)
                #expect(try answer["detail"] == "Memory not found")
            }
        }
    }

    @Test(
        "an invalid query of the conversation list is 422 and names the parameter",
        arguments: [
            "limit=0", "limit=x", "offset=-1", "statuses=done", "start_date=yesterday",
            "end_date=999999999-01-01T00:00:00Z",
        ])
    func lists(query: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.get("/v1/conversations?\(query)")
            #expect(answer.status == 422)
            #expect(try answer["detail"].contains(query.prefix { $0 != "=" }))
            if query.hasPrefix("limit") || query.hasPrefix("offset") {
                let memories = try await client.get("/v3/memories?\(query)")
                #expect(memories.status == 422)
            }
        }
    }

    @Test("the conversation list filters by times with and without a zone, by star and by folder")
    func filters() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await say("Hello.", client)
            for (query, count) in [
                ("start_date=2020-05-10T09:00:00", 1), ("start_date=2020-05-10T09:00:00%2B05:30", 1),
                ("end_date=2020-05-10", 0), ("starred=true", 0), ("starred=false", 1), ("folder_id=x", 0),
            ] {
                let answer = try await client.get("/v1/conversations?statuses=in_progress&\(query)")
                #expect(answer.has("0") == (count == 1), "\(query)")
            }
        }
    }

    @Test("a client without quota for a transaction gets 402 and no conversation")
    func limited() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login("dev-limited", "dev-limited-secret")
            let answer = try await client.post("/v1/transcribe/text", #"{"text":"hello"}"#)
            #expect(answer.status == 402)
            let listed = try await client.get("/v1/conversations?statuses=in_progress")
            #expect(listed.text == "[]")
        }
    }

    @Test("a device socket opens on both paths, and is refused before the upgrade otherwise")
    func sockets() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            for path in ["/v4/listen", "/v4/web/listen"] {
                let opened = try await client.get(path, headers: Self.upgrade)
                #expect(opened.status == 101)
                let plain = try await client.get(path)
                #expect(plain.status == 426)
            }
        }
        var full = try TestServer()
        full.configuration.omi.sockets = 0
        try await full.run { anonymous in
            let refused = try await anonymous.login().get("/v4/listen", headers: Self.upgrade)
            #expect(refused.status == 429)
        }
    }

    @Test("silence on a device socket ends its conversation")
    func silence() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let id = try await say("I have a cough.", client)
            server.manual.advance(by: .seconds(119))
            let same = try await say("Since Monday.", client)
            #expect(same == id)
            server.manual.advance(by: .seconds(121))
            let other = try await say("Hello again.", client)
            #expect(other != id)
            // Whoever has found out first is at it.
            var status = "processing"
            while status == "processing" {
                status = try await client.get("/v1/conversations/\(id)")["status"]
            }
            #expect(status == "completed")
        }
    }
}
