import Basics
import Foundation
import HTTPTypes
import ScribeHTTP
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

/// Resets of the default namespace, with rows in memory and in a data folder.
struct MainResetTests {
    enum Storage: CaseIterable { case memory, folder }

    private static func server(_ storage: Storage) throws -> TestServer {
        var server = try TestServer(onSQLite: true)
        server.configuration.isEphemeral = storage == .memory
        server.configuration.allowsReset = storage == .folder
        return server
    }

    @Test(
        "a reset of the data folder's world keeps access tokens, and ends rows and S3 credentials",
        arguments: Storage.allCases,
        Transport.allCases)
    func reset(storage: Storage, transport: Transport) async throws {
        let server = try Self.server(storage)
        try await server.run(transport) { [now = server.manual.now] anonymous in
            let client = try await anonymous.login()
            let other = try await anonymous.namespace("other")
            let own = try await anonymous.login(other.client, other.secret)
            try await own.consultation("stays", at: now)
            for state in Int64(2)...4 {
                let signer = try await client.signer()
                try await client.consultation("t", at: now)
                #expect(try await client.get("/voice/api/v2/transaction/t").status == 200)
                let answer = try await anonymous.post("/__admin/reset", "{}")
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try answer["namespace"] == "default")
                #expect(answer.json["state"] == .integer(state))
                #expect(try await client.get("/voice/api/v2/transaction/t").status == 404)
                let path = "/\(TestScribeClient.bucket)/260510/t/2.m4a"
                let late = try await client.send(
                    .put, path, headers: signer.sign("PUT", path, at: now), body: TestAudio.wav(seconds: 2))
                #expect(late.status == 400)
                #expect(late.text.contains("<Code>ExpiredToken</Code>"))
            }
            try await client.consultation("t", at: now)
            #expect(try await own.get("/voice/api/v2/transaction/stays").status == 200)
            #expect(try await anonymous.get("/readyz").status == 200)
        }
    }

    @Test("a data folder's world refuses resets unless they are allowed")
    func notAllowed() async throws {
        let server = try TestServer(onSQLite: true)
        try await server.run { [now = server.manual.now] anonymous in
            let client = try await anonymous.login()
            try await client.consultation("t", at: now)
            let answer = try await anonymous.post("/__admin/reset", "{}")
            #expect(answer.status == 409)
            #expect(try answer["code"] == "reset_not_allowed")
            #expect(try await client.get("/voice/api/v2/transaction/t").status == 200)
        }
    }

    @Test("a start after resets opens the last state, continues its number, and removes other states")
    func restart() async throws {
        let server = try Self.server(.folder)
        let before = Box<RequestSigner?>(nil)
        try await server.run { [now = server.manual.now] anonymous in
            let client = try await anonymous.login()
            try await client.consultation("old", at: now)
            before.set(try await client.signer())
            #expect(try await anonymous.post("/__admin/reset", "{}").status == 200)
            try await client.consultation("new", at: now)
        }
        let states = try FileManager.default.contentsOfDirectory(atPath: server.configuration.dataFolder + "/states")
        #expect(
            states == [
                try String(contentsOfFile: server.configuration.dataFolder + "/current", encoding: .utf8)
                    .trimmingCharacters(in: .newlines)
            ])
        try await server.run { [now = server.manual.now] anonymous in
            let client = try await anonymous.login()
            #expect(try await client.get("/voice/api/v2/transaction/new").status == 200)
            #expect(try await client.get("/voice/api/v2/transaction/old").status == 404)
            let path = "/\(TestScribeClient.bucket)/260510/t/2.m4a"
            let late = try await client.send(
                .put, path, headers: try #require(before.value).sign("PUT", path, at: now),
                body: TestAudio.wav(seconds: 2))
            #expect(late.text.contains("<Code>ExpiredToken</Code>"))
            #expect(try await anonymous.post("/__admin/reset", "{}").json["state"] == .integer(3))
        }
    }

    @Test("concurrent resets run one after the other, or are refused", arguments: Storage.allCases)
    func concurrent(storage: Storage) async throws {
        let server = try Self.server(storage)
        try await server.run { anonymous in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await anonymous.post("/__admin/reset", "{}").status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.contains(200))
            #expect(statuses.allSatisfy { $0 == 200 || $0 == 409 })
            let last = try await anonymous.post("/__admin/reset", "{}")
            #expect(last.json["state"] == .integer(Int64(statuses.count { $0 == 200 }) + 2))
            let client = try await anonymous.login()
            #expect(try await client.initialise("t").status == 201)
        }
    }
}
