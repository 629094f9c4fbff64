import Foundation
import HTTPTypes
import Journal
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

/// `verify` never takes what the journal has not kept for what has not happened.
@Suite("An expectation that the journal cannot confirm")
struct UnknownMatchesTests {
    private static let path = "/__admin/requests"

    private func verify(_ client: TestScribeClient, _ body: String) async throws -> TestAnswer {
        try await client.post("\(Self.path)/verify", body)
    }

    @Test(
        "is not met while dropped entries may matter",
        arguments: [
            (#"{"operation":"deleteDocument","times":0}"#, false),
            (#"{"operation":"initTransaction","times":3}"#, false),
            (#"{"operation":"initTransaction","at_most":9}"#, false), (#"{"operation":"initTransaction"}"#, true),
            (#"{"operation":"initTransaction","at_least":3}"#, true),
            (#"{"operation":"deleteDocument","times":0,"after":3}"#, true),
            (#"{"operation":"deleteDocument","times":0,"after":2}"#, false),
            (#"{"operation":"deleteDocument","times":0,"since":"2036-01-01T00:00:00Z"}"#, true),
            (#"{"operation":"deleteDocument","times":0,"since":"2026-01-01T00:00:00Z"}"#, false),
        ])
    func dropped(expectation: String, isMet: Bool) async throws {
        var server = try TestServer()
        server.configuration.journal.entries = 3
        try await server.run { anonymous in
            let client = try await anonymous.login()
            for number in 1...5 { _ = try await client.initialise("i-\(number)") }
            let answer = try await verify(client, expectation)
            #expect((answer.status == 200) == isMet, "\(answer.text)")
            if !isMet {
                #expect(try answer["detail"].contains("gone from the journal"), "\(answer.text)")
                #expect(try answer["detail"].contains("journal-max"), "\(answer.text)")
            }
            _ = try await client.send(.delete, Self.path)
            #expect(try await verify(client, #"{"operation":"deleteDocument","times":0}"#).status == 200)
        }
    }

    @Test("names what is gone where too few are found, and where too many are found it says only that")
    func failed() async throws {
        var server = try TestServer()
        server.configuration.journal.entries = 3
        try await server.run { anonymous in
            let client = try await anonymous.login()
            for number in 1...5 { _ = try await client.initialise("i-\(number)") }
            let few = try await verify(client, #"{"operation":"initTransaction","times":5}"#)
            #expect(
                try few["detail"].hasPrefix("Expected 5 of operation=initTransaction, found 3; 3 earlier exchanges"))
            let many = try await verify(client, #"{"operation":"initTransaction","times":2}"#)
            #expect(try many["detail"] == "Expected 2 of operation=initTransaction, found 3")
        }
    }

    /// Each way of not knowing, by a request: a long body, masked credentials, an unread body.
    @Test(
        "is not met while what was cut, masked or not read may matter",
        arguments: [
            // The body has more than is kept.
            (#"{"path":"*/init/long","body":"*spoken at the end*"}"#, Verdict.unknown),
            (#"{"path":"*/init/long","body":"*fever*"}"#, .holds), (#"{"path":"*/init/long","body":"x*"}"#, .fails),
            (#"{"path":"*/init/long","body":"fever"}"#, .fails),
            (#"{"path":"*/init/long","body":"*fever*end*"}"#, .unknown),
            (#"{"path":"*/init/long","body":{"text":"*"}}"#, .unknown),
            (#"{"path":"*/init/long","no_body":true}"#, .fails),
            (#"{"path":"*/init/long","body":["x*","*end"]}"#, .fails),
            (#"{"path":"*/init/long","body":["*fever*","*end"]}"#, .unknown),
            // Credentials are masked.
            (#"{"path":"*/login","header":"Authorization: Bearer abc"}"#, .unknown),
            (#"{"path":"*/login","header":"Authorization: Bearer *"}"#, .holds),
            (#"{"path":"*/login","no_header":"Authorization"}"#, .fails),
            (#"{"path":"*/login","header":"X-Other"}"#, .fails), (#"{"path":"*/login","no_header":"X-Other"}"#, .holds),
            (#"{"path":"*/login","query":"token=abc"}"#, .unknown), (#"{"path":"*/login","query":"token"}"#, .holds),
            (#"{"path":"*/login","query":"page=3"}"#, .fails), (#"{"path":"*/login","no_query":"token"}"#, .fails),
            (#"{"path":"*/login","body":{"client_secret":"abc"}}"#, .unknown),
            (#"{"path":"*/login","body":{"client_secret":"abc","mode":"x"}}"#, .fails),
            (#"{"path":"*/login","body":{"client_secret":7}}"#, .unknown),
            (#"{"path":"*/login","body":"*abc*"}"#, .unknown), (#"{"path":"*/login","body":"*mode*"}"#, .holds),
            // No body, no query.
            (#"{"path":"/plain","no_body":true}"#, .holds), (#"{"path":"/plain","body":"*"}"#, .fails),
            (#"{"path":"/plain","no_query":["a","b"]}"#, .holds), (#"{"path":"/plain","query":"a"}"#, .fails),
            (#"{"path":"/plain","header":"Host: *"}"#, .holds),
            (#"{"path":"/plain","no_header":"Host"}"#, .fails),
            // A parameter that is there twice.
            (#"{"path":"/twice","query":["a=1","a=2"]}"#, .holds),
            (#"{"path":"/twice","query":["a=1","a=3"]}"#, .fails),
            (#"{"path":"/twice","query":["a=1","b"],"method":"get"}"#, .fails),
            // An answer.
            (#"{"path":"/plain","response":"*no such words*"}"#, .fails),
            // Of data that is no text only the size is kept.
            (#"{"path":"/v1/listen","body":"*RIFF*"}"#, .unknown), (#"{"path":"/v1/listen","body":{"a":1}}"#, .unknown),
            // Names are decoded, and spaces count.
            (#"{"path":"/odd","query":"a[]= one"}"#, .holds), (#"{"path":"/odd","query":"a[]=one"}"#, .fails),
            (#"{"path":"/odd","no_query":"a[]"}"#, .fails), (#"{"path":"/odd","query":"a%5B%5D"}"#, .fails),
        ])
    func verdicts(condition: String, expected: Verdict) async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            _ = try await client.send(.delete, Self.path)
            let filler = String(repeating: "fever ", count: 12_000)
            _ = try await client.post(
                "/voice/api/v2/transaction/init/long", #"{"text":"\#(filler)spoken at the end"}"#)
            _ = try await anonymous.send(
                .post, "/connect-auth/v1/account/login?token=abc&page=2",
                headers: [.contentType: "application/json", .authorization: "Bearer abc"],
                body: Data(#"{"mode":"dictation","client_secret":"abc"}"#.utf8))
            _ = try await client.get("/plain")
            _ = try await client.get("/twice?a=1&a=2")
            _ = try await client.get("/odd?a%5B%5D=%20one")
            _ = try await anonymous.send(
                .post, "/v1/listen", headers: [.contentType: "audio/wav", .authorization: "Token org_dev_key"],
                body: TestAudio.wav(seconds: 1))
            let least = try await verify(client, condition.dropLast() + #","at_least":1}"#)
            let most = try await verify(client, condition.dropLast() + #","times":0}"#)
            #expect((least.status == 200) == (expected == .holds), "\(least.text)")
            #expect((most.status == 200) == (expected == .fails), "\(most.text)")
            #expect(most.has("unknown.0") == (expected == .unknown), "\(most.text)")
            if expected == .unknown { #expect(try most["detail"].contains("it cannot be known"), "\(most.text)") }
        }
    }

    @Test("is not met by a body that was not read, whose request has one nevertheless")
    func unread() async throws {
        try await TestServer().run(.socket) { client in
            _ = try await client.send(
                .post, "/nowhere", headers: [.contentType: "application/json"], body: Data(#"{"a":1}"#.utf8))
            let none = try await verify(client, #"{"path":"/nowhere","body":{"a":1},"times":0}"#)
            #expect(none.status == 422)
            #expect(try none["unknown.0.problem"] == "the body was not read")
            #expect(try await verify(client, #"{"path":"/nowhere","no_body":true,"times":0}"#).status == 200)
            #expect(none.text.components(separatedBy: "the body was not read").count == 4, "\(none.text)")
        }
    }

    @Test("without heads it is not met by a request that a fault rule refused before its route")
    func faulted() async throws {
        var server = try TestServer()
        server.configuration.journalMode = .metadata
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.post("/__admin/faults/next", #"{"operation":"initTransaction","status":503}"#)
            #expect(try await client.initialise("i-1").status == 503)
            #expect(try await verify(client, #"{"operation":"initTransaction","times":0}"#).status == 422)
            #expect(try await verify(client, #"{"operation":"initTransaction","times":1}"#).status == 200)
        }
    }

    enum Verdict: Sendable {
        case holds, fails, unknown
    }
}
