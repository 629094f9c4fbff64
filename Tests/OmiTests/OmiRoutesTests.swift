import Foundation
import HTTPTypes
import Omi
import ScribeDomain
import ScribeHTTP
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
            let renamed = try await client.send(.patch, "\(path)/title?title=Penicillin")
            #expect(try renamed["status"] == "Ok")
            #expect(try renamed["conversation.structured.title"] == "Penicillin")
            let memories = try await client.get("/v3/memories?categories=core")
            #expect(try memories["0.content"] == "Allergic to penicillin")
            #expect(try memories["0.conversation_id"] == id)
            let deleted = try await client.send(.delete, "\(path)?cascade=true")
            #expect(deleted.status == 204)
            let left = try await client.get("/v3/memories")
            #expect(left.text == "[]")
            for method in [HTTPRequest.Method.delete, .get] {
                let gone = try await client.send(method, path)
                #expect(gone.status == 404)
            }
        }
    }

    @Test(
        "values of a change come from the query alone: FastAPI's 422 without, 400 for what the backend's code refuses",
        arguments: [
            ("title", 422, "query.title"), ("segments/0/assign?value=true", 422, "query.assign_type"),
            ("segments/x/assign?assign_type=is_user", 422, "path.segment_idx"),
            ("segments/0/assign?assign_type=is_user&use_for_speech_training=2", 422, "query.use_for_speech_training"),
            ("segments/0/assign?assign_type=nobody", 400, "Invalid assign type"),
            ("segments/9/assign?assign_type=nobody", 404, "Segment not found"),
        ])
    func signatures(call: String, status: Int, reason: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await say("Hello.", client)
            let body = Data(#"{"title":"Penicillin","assign_type":"is_user","value":"true"}"#.utf8)
            let answer = try await client.send(.patch, "/v1/conversations/\(id)/\(call)", body: body)
            #expect(answer.status == status)
            if status == 422 {
                let (place, name) = (try answer["detail.0.loc.0"], try answer["detail.0.loc.1"])
                #expect("\(place).\(name)" == reason)
                #expect(answer.has("detail.0.type") && answer.has("detail.0.msg"))
            } else {
                #expect(try answer["detail"] == reason)
            }
        }
    }

    @Test("parameters of a read, a deletion and a list are checked as the backend checks them")
    func parameters() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let path = "/v1/conversations/\(try await say("Hello.", client))"
            for (method, address, status) in [
                (HTTPRequest.Method.get, "\(path)?source=phone", 400), (.get, "\(path)?include_discarded=2", 422),
                (.delete, "\(path)?cascade=perhaps", 422), (.get, "/v3/memories?limit=x", 422),
            ] {
                let answer = try await client.send(method, address)
                #expect(answer.status == status, "\(address): \(answer.text)")
            }
            let body = Data(#"{"assign_type":"nobody","value":"asha","segment_ids":[]}"#.utf8)
            let answer = try await client.send(.patch, "\(path)/segments/assign-bulk", body: body)
            #expect(answer.status == 400)
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
            let unknown = try await client.send(.patch, "\(path)/visibility?value=shared")
            #expect(unknown.status == 400)
            #expect(try unknown["detail"] == "Invalid visibility value")
            // The desktop app sends a body, which wins.
            let body = Data(#"{"value":"likes water"}"#.utf8)
            let changed = try await client.send(.patch, "\(path)?value=likes+milk", body: body)
            #expect(changed.status == 200)
            let listed = try await client.get("/v3/memories?limit=0&offset=-1")
            #expect(try listed["0.content"] == "likes water")
            #expect(try listed["0.category"] == "interesting")
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
            "limit=0", "limit=x", "offset=-1", "offset=", "start_date=yesterday", "starred=2", "include_discarded=2",
            "end_date=999999999-01-01T00:00:00Z",
        ])
    func lists(query: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.get("/v1/conversations?\(query)")
            #expect(answer.status == 422)
            #expect(try answer["detail.0.loc.1"] == String(query.prefix { $0 != "=" }))
        }
    }

    @Test(
        "a query of the conversation list that the backend's code refuses is 400",
        arguments: [
            "start_date=2026-02-01&end_date=2026-01-01", "sources=omi,phone",
            "statuses=\(String(repeating: "done,", count: 21))",
        ])
    func contradictions(query: String) async throws {
        try await TestServer().run { anonymous in
            let answer = try await anonymous.login().get("/v1/conversations?\(query)")
            #expect(answer.status == 400)
        }
    }

    @Test("the conversation list filters by times with and without a zone, by source, by star and by folder")
    func filters() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await say("Hello.", client)
            for (query, count) in [
                ("start_date=2020-05-10T09:00:00", 1), ("start_date=2020-05-10T09:00:00%2B05:30", 1),
                ("end_date=2020-05-10", 0), ("starred=true", 0), ("starred=false", 1), ("folder_id=x", 0),
                ("sources=phone,omi", 1), ("sources=omi", 0),
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
        full.configuration.sockets.most = 0
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
