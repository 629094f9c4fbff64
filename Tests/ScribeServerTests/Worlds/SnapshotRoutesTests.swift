import Basics
import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

/// `/__admin/snapshots`: saving, restoring, exporting and importing.
struct SnapshotRoutesTests {
    private static let archive: HTTPFields = [.contentType: "application/octet-stream"]

    @Test("a snapshot is restored in the same namespace and in another server", arguments: Transport.allCases)
    func roundTrip(transport: Transport) async throws {
        var (server, other) = (try TestServer(onSQLite: true), try TestServer(onSQLite: true))
        server.configuration.allowsReset = true
        other.configuration.isEphemeral = true
        let exported = Box(Data())
        try await server.run(transport) { [now = server.manual.now] anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            let saved = try await anonymous.send(.put, "/__admin/snapshots/base")
            #expect(saved.status == 200, "\(saved.text)")
            #expect(saved.json["objects"] == .integer(1))
            #expect(try await anonymous.get("/__admin/snapshots/base").json == saved.json)
            #expect(try await anonymous.get("/__admin/snapshots").json["snapshots"] == .array([saved.json]))
            try await client.consultation("later", at: now)
            let restored = try await anonymous.post("/__admin/snapshots/base/restore", "{}")
            #expect(restored.status == 200, "\(restored.text)")
            #expect(try await client.get("/voice/api/v2/transaction/t").status == 200)
            #expect(try await client.get("/voice/api/v2/transaction/later").status == 404)
            let content = try await anonymous.get("/__admin/snapshots/base/content")
            #expect(content.status == 200)
            exported.set(content.body)
            #expect(try await anonymous.send(.delete, "/__admin/snapshots/base").status == 204)
            for call in ["base", "base/content"] {
                #expect(try await anonymous.get("/__admin/snapshots/\(call)").status == 404)
            }
            #expect(try await anonymous.send(.delete, "/__admin/snapshots/base").status == 404)
            #expect(try await anonymous.post("/__admin/snapshots/base/restore", "{}").status == 404)
        }
        try await other.run(transport) { anonymous in
            let client = try await anonymous.login()
            let read = try await anonymous.send(
                .put, "/__admin/snapshots/base/content", headers: Self.archive, body: exported.value)
            #expect(read.status == 200, "\(read.text)")
            #expect(try await anonymous.post("/__admin/snapshots/base/restore", "{}").status == 200)
            #expect(try await client.status("t").status == 200)
        }
    }

    @Test("an imported file that is no snapshot, or too large, is refused and changes nothing")
    func refused() async throws {
        var server = try TestServer(onSQLite: true)
        server.configuration.quotas.storedBytes = 1000
        try await server.run { client in
            let path = "/__admin/snapshots/base/content"
            let junk = try await client.send(.put, path, headers: Self.archive, body: Data("junk".utf8))
            #expect(junk.status == 400)
            #expect(try junk["code"] == "not_a_snapshot")
            #expect(try await client.send(.put, "/__admin/snapshots/base").status == 200)
            let own = try await client.get(path).body
            let large = try await client.send(.put, path, headers: Self.archive, body: own)
            #expect(large.status == 413)
            #expect(try large["code"] == "quota_exceeded")
            #expect(try await client.send(.put, path, headers: [.contentType: "text/plain"], body: own).status == 415)
            #expect(try await client.get("/__admin/snapshots/base").status == 200)
            let changed = try await client.post("/__admin/snapshots/base/restore", "{}")
            #expect(changed.status == 409, "the data folder keeps its data")
        }
    }

    @Test("a restore without enough memory for the snapshot's rows is 503 and changes nothing")
    func noMemory() async throws {
        var server = try TestServer(onSQLite: true)
        server.configuration.isEphemeral = true
        server.configuration.namespaces.memory = 260_000
        try await server.run { [now = server.manual.now] anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            #expect(try await anonymous.send(.put, "/__admin/snapshots/base").status == 200)
            let answer = try await anonymous.post("/__admin/snapshots/base/restore", "{}")
            #expect(answer.status == 503, "\(answer.text)")
            #expect(try await client.get("/voice/api/v2/transaction/t").status == 200)
        }
    }

    @Test(
        "a snapshot with an invalid name is refused",
        arguments: [".x", "a%2Fb", "%00", String(repeating: "a", count: 65)])
    func badNames(name: String) async throws {
        try await TestServer(onSQLite: true).run { client in
            let saved = try await client.send(.put, "/__admin/snapshots/\(name)").status
            #expect([400, 404].contains(saved))
            #expect(try await client.get("/__admin/snapshots/\(name)").status == 404)
            #expect(try await client.get("/__admin/snapshots").json["snapshots"] == .array([]))
        }
    }

    @Test("snapshot calls refuse bodies that are no JSON or too large", arguments: [HTTPRequest.Method.put, .post])
    func bodies(method: HTTPRequest.Method) async throws {
        try await TestServer(onSQLite: true).run { client in
            #expect(try await client.send(.put, "/__admin/snapshots/s").status == 200)
            let path = method == .put ? "/__admin/snapshots/s" : "/__admin/snapshots/s/restore"
            let cases: [(String, HTTPFields, Int)] = [
                ("{}", [.contentType: "text/plain"], 415), (#"{"x":1}"#, [:], 400),
                (String(repeating: " ", count: 1 << 20 | 1), [:], 413),
            ]
            for (text, headers, status) in cases {
                let answer = try await client.send(method, path, headers: headers, body: Data(text.utf8))
                #expect(answer.status == status)
            }
        }
    }

    @Test("under strict authentication snapshots and seeds need the operator token", arguments: [nil, "operator"])
    func strict(token: String?) async throws {
        var server = try TestServer(onSQLite: true)
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        server.configuration.adminToken = token
        try await server.run { client in
            let headers: HTTPFields = token.map { [.authorization: "Bearer \($0)"] } ?? [:]
            let answers = [
                try await client.get("/__admin/info", headers: headers),
                try await client.send(.put, "/__admin/snapshots/s", headers: headers),
                try await client.get("/__admin/snapshots", headers: headers),
                try await client.post("/__admin/seed", "{}", headers: headers),
            ]
            for answer in answers {
                #expect(answer.status == (token == nil ? 401 : 200), "\(answer.text)")
            }
        }
    }
}
