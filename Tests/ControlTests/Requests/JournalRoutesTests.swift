import Basics
import Foundation
import HTTPTypes
import Journal
import ScribeRuntime
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP

/// `/__admin/requests`: what the journal keeps of the exchanges of a namespace.
struct JournalRoutesTests {
    private static let path = "/__admin/requests"

    private func post(_ client: TestScribeClient, _ path: String, _ body: String) async throws -> TestAnswer {
        try await client.post("\(Self.path)/\(path)", body)
    }

    @Test("the journal holds each request with its answer, and without its credentials", arguments: Transport.allCases)
    func exchange(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.login()
            #expect(try await client.initialise("i-1").status == 201)
            let list = try await client.get(Self.path + "?operation=initTransaction")
            #expect(list.status == 200)
            #expect(try list["requests.0.path"] == "/voice/api/v2/transaction/init/i-1")
            #expect(try list["requests.0.client"] == "dev-client")
            #expect(try list["requests.0.end"] == "whole")
            #expect(try list["mode"] == "full")
            #expect(list.json["requests"].map { "\($0)".contains("i-1") } ?? false)
            guard case .array(let requests)? = list.json["requests"], case .integer(let id)? = requests.first?["id"]
            else { throw Missing() }
            let detail = try await client.get("\(Self.path)/\(id)")
            #expect(
                detail.text.contains(#""value":"Bearer ***""#) || detail.text.contains(#""name":"auth","value":"***""#))
            #expect(try detail["request.body.text"].contains("consultation"))
            #expect(try detail["response.body.text"].contains("success"))
            let login = try await post(client, "find", #"{"operation":"login"}"#)
            #expect(try login["requests.0.request.body.text"].contains(#""client_secret":"***""#), "\(login.text)")
            #expect(!login.text.contains("eyJ"))
            #expect(try await client.get("\(Self.path)/999").status == 404)
            #expect(try await client.get("\(Self.path)/word").status == 404)
            #expect(try await client.send(.delete, Self.path).status == 204)
            #expect(try await client.get(Self.path).text.contains(#""requests":[]"#))
        }
    }

    private struct Missing: Error {}

    @Test("the journal holds refused and unrouted requests, but no operator calls and no health probes")
    func kinds() async throws {
        try await TestServer().run(.socket) { client in
            _ = try await client.get("/livez")
            _ = try await client.get("/__admin/info")
            #expect(try await client.get(Self.path).text.contains(#""requests":[]"#))
            #expect(try await client.get("/voice/api/v2/transactoin/t-1").status == 404)
            #expect(try await client.get("/voice/api/v2/transaction/t-1").status == 401)
            let list = try await client.get("\(Self.path)/unmatched")
            #expect(try list["requests.0.nearest.operation"] == "readTransaction")
            #expect(try list["requests.0.reason"].contains("No such route"))
            let refused = try await client.get(Self.path + "?status=401")
            #expect(try refused["requests.0.operation"] == "readTransaction")
            #expect(refused.has("requests.0.reason"))
            #expect(!refused.has("requests.0.nearest"))
        }
    }

    @Test("the journal verifies an expectation, or answers with the nearest misses")
    func verify() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-1")
            _ = try await client.initialise("i-2")
            let met = try await post(client, "verify", #"{"operation":"initTransaction","status":201,"times":2}"#)
            #expect(met.status == 200, "\(met.text)")
            let missed = try await post(
                client, "verify",
                #"{"operation":"initTransaction","transaction":"i-2","body":{"mode":"other"},"status":"2xx"}"#)
            #expect(missed.status == 422)
            #expect(missed.headers[.contentType] == "application/problem+json")
            #expect(try missed["code"] == "not_verified")
            #expect(try missed["misses.0.path"].hasSuffix("i-2"))
            #expect(try missed["misses.0.differences.0.name"] == "body")
            #expect(try missed["misses.0.differences.0.found"].contains("consultation"))
            #expect(
                try missed["diff"].contains("-body={\"mode\":\"other\"}\n+body=mode: \"consultation\""),
                "\(missed.text)")
            let tooMany = try await post(client, "verify", #"{"path":"/voice/*","at_most":1}"#)
            #expect(tooMany.status == 422)
            #expect(try tooMany["detail"] == "Expected at most 1 of path=/voice/*, found 2")
            #expect(try await post(client, "count", #"{"header":"Content-Type: application/json"}"#).status == 200)
            #expect(try await post(client, "count", #"{"path":"/voice/*"}"#).text.hasPrefix(#"{"count":2,"#))
        }
    }

    @Test(
        "an invalid journal expectation is refused with the nearest valid name",
        arguments: [
            (#"{"operatoin":"a"}"#, "operation"), (#"{"operation":"initTransactoin"}"#, "initTransaction"),
            (#"{"kind":"sockets"}"#, "socket"), (#"{"status":"99"}"#, "status"), (#"{"status":"6xx"}"#, "status"),
            (#"{"body":"{no json"}"#, "JSON"), (#"{"times":1,"at_least":1}"#, "times"),
            (#"{"at_least":2,"at_most":1}"#, "at_most"), (#"{"times":-1}"#, "times"),
            (#"{"since":"2030-01-01T00:61:00Z"}"#, "since"),
            (#"{"family":"eka"}"#, "Eka"), (#"{"event":"session.started"}"#, "started"), (#"{"method":"GTE"}"#, "GET"),
            (#"{"header":""}"#, "header"), ("[1]", "object"), (#"{"body":""}"#, "body"),
        ])
    func refused(body: String, word: String) async throws {
        try await TestServer().run { client in
            let answer = try await post(client, "verify", body)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(try answer["detail"].contains(word), "\(answer.text)")
        }
    }

    @Test("a journal wait ends when its expectation is met or its time is up")
    func wait() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            async let waiting = post(client, "wait", #"{"operation":"initTransaction","timeout":"30s"}"#)
            try await server.manual.waitFor(.journal)
            _ = try await client.initialise("i-1")
            #expect(try await waiting.status == 200)
            async let late = client.get(Self.path + "/wait?transaction=i-9&timeout=5s")
            try await server.manual.waitFor(.journal)
            server.manual.advance(by: .seconds(6))
            #expect(try await late.status == 422)
            #expect(try await client.get(Self.path + "/wait?timeout=700s").status == 400)
        }
    }

    @Test("a journal wait counts dropped entries too, and every answer says how many were dropped")
    func evicted() async throws {
        var server = try TestServer()
        server.configuration.journal.entries = 3
        try await server.run { [server] anonymous in
            let client = try await anonymous.login()
            let isMet = LockedValue(false)
            async let waiting = {
                defer { isMet.withLock { $0 = true } }
                return try await post(client, "wait", #"{"path":"/voice/*","at_least":8,"timeout":"30s"}"#)
            }()
            try await server.manual.waitFor(.journal)
            // A busy machine may drop a request before the wait has looked.
            var number = 0
            while number < 8 || !isMet.withLock({ $0 }) {
                _ = try await client.initialise("i-\(number)")
                number += 1
            }
            let outcome = try await waiting
            #expect(outcome.status == 200, "\(outcome.text)")
            #expect(!(0..<8).contains { outcome.text.contains(#""count":\#($0),"#) }, "\(outcome.text)")
            #expect(!outcome.text.contains(#""dropped":0"#))
        }
    }

    @Test("each namespace has a journal, and a reset empties it")
    func namespaces() async throws {
        try await TestServer().run { client in
            _ = try await client.namespace("first")
            _ = try await client.get("/ns/first/voice/api/v2/transaction/t-1")
            #expect(try await client.get(Self.path).text.contains(#""requests":[]"#))
            let own = try await client.get(Self.path + "?namespace=first")
            #expect(try own["requests.0.prefix"] == "/ns/first")
            #expect(try own["requests.0.path"] == "/voice/api/v2/transaction/t-1")
            let reset = try await client.post("/__admin/reset?namespace=first", #"{"only":["journal"]}"#)
            #expect(reset.status == 200)
            #expect(try await client.get(Self.path + "?namespace=first").text.contains(#""requests":[]"#))
        }
    }

    @Test("without bodies the journal keeps no name, query, header or key")
    func metadata() async throws {
        var server = try TestServer()
        server.configuration.journalMode = .metadata
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("patient-7")
            _ = try await client.get("/voice/api/v2/transaction/patient-7?name=lovelace")
            let all = try await post(client, "find", #"{"limit":100}"#)
            #expect(all.status == 200)
            for word in ["patient-7", "lovelace", "demo", "Bearer", "localhost", "consultation"] {
                #expect(!all.text.contains(word), "\(word) is in \(all.text)")
            }
            #expect(try await post(client, "verify", #"{"operation":"initTransaction","status":201}"#).status == 200)
            #expect(try all["requests.1.route"] == "/voice/api/v2/transaction/init/{txn_id}")
            #expect(all.has("requests.1.response_bytes"))
            for name in [
                "path", "client", "business", "transaction", "header", "no_header", "query", "no_query", "body",
                "response", "frame",
            ] {
                for call in ["verify", "count", "find", "wait"] {
                    let refused = try await post(client, call, #"{"\#(name)":"x"}"#)
                    #expect(refused.status == 400, "\(name)")
                    #expect(try refused["detail"].contains("cannot be known"), "\(refused.text)")
                }
            }
            #expect(try await post(client, "verify", #"{"no_body":true}"#).status == 400)
        }
    }

    @Test("the journal keeps bodies by default on loopback only, and never in strict mode")
    func modes() async throws {
        var configuration = Configuration()
        #expect(configuration.usedJournal.mode == .full)
        configuration.host = "0.0.0.0"
        #expect(configuration.usedJournal.mode == .off)
        configuration.host = "127.0.0.1"
        configuration.authMode = .strict
        #expect(configuration.usedJournal.mode == .off)
        configuration.journalMode = .full
        #expect(configuration.usedJournal.mode == .full)
        var server = try TestServer()
        server.configuration.journalMode = .off
        try await server.run { client in
            for path in ["", "/unmatched", "/stream", "/export", "/1", "/wait"] {
                let answer = try await client.get(Self.path + path)
                #expect(answer.status == 409, "\(path): \(answer.text)")
                #expect(try answer["code"] == "journal_off")
            }
        }
    }

    @Test("in strict mode the journal needs the operator's token")
    func strict() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.journalMode = .full
        server.configuration.hasDemoSeed = true
        try await server.run { client in
            let list = try await client.get(Self.path)
            #expect(list.status == 401)
            let playbacks = try await client.get("/__admin/playbacks")
            #expect(playbacks.status == 401)
        }
    }

    @Test("the journal's export is one JSON object, with an entry for each exchange")
    func export() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-1")
            let archive = try await client.get(Self.path + "/export")
            #expect(archive.status == 200)
            #expect(archive.headers[.contentDisposition] == #"attachment; filename="scribe.har""#)
            #expect(try archive["log.version"] == "1.2")
            #expect(try archive["log.entries.1.request.postData.text"].contains("consultation"))
            #expect(try archive["log.entries.1._operation"] == "initTransaction")
            #expect(!archive.text.contains("eyJ"))
            let none = try await client.get(Self.path + "/export?transaction=none")
            #expect(none.text.contains(#""entries":[]"#))
        }
    }

    @Test("the journal names the fault rule that caused an answer")
    func faults() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            _ = try await client.post("/__admin/faults/next", #"{"path":"/voice/*","status":503}"#)
            _ = try await client.initialise("i-1")
            let failed = try await client.get(Self.path + "?fault=fault-1")
            #expect(try failed["requests.0.operation"] == "initTransaction")
            #expect(try failed["requests.0.end"] == "whole")
        }
    }

    @Test("the journal's event streams end with their namespace, and there are at most 32 at a time")
    func streams() async throws {
        let server = try TestServer()
        try await server.run { client in
            _ = try await client.namespace("s")
            let path = Self.path + "/stream?namespace=s&all=true"
            try await withThrowingTaskGroup(of: TestAnswer.self) { group in
                for _ in 1...JournalEvents.limit { group.addTask { try await client.get(path) } }
                try await server.manual.waitFor(JournalEvents.limit, .journal)
                let refused = try await client.get(path)
                #expect(refused.status == 503)
                #expect(try refused["code"] == "busy")
                #expect(try await client.send(.delete, "/__admin/namespaces/s").status == 204)
                for try await answer in group {
                    #expect(answer.status == 200)
                    #expect(answer.headers[.contentType] == "text/event-stream")
                    #expect(answer.text.hasPrefix(": the journal"))
                }
            }
        }
    }

    @Test("every journal call refuses an invalid query or body")
    func refusedCalls() async throws {
        let server = try TestServer()
        try await server.run { client in
            for path in ["?limit=0", "/unmatched?limit=x", "/export?status=0", "/stream?all=maybe", "/stream?kind=x"] {
                let answer = try await client.get(Self.path + path)
                #expect(answer.status == 400, "\(path)")
            }
            for path in ["find", "count", "verify", "wait"] {
                let answer = try await client.send(
                    .post, "\(Self.path)/\(path)", headers: [.contentType: "text/plain"], body: Data("{}".utf8))
                #expect(answer.status == 415, "\(path)")
            }
            async let late = post(client, "wait", #"{"transaction":"none","timeout":"2s"}"#)
            try await server.manual.waitFor(.journal)
            server.manual.advance(by: .seconds(3))
            #expect(try await late.status == 422)
        }
    }
}
