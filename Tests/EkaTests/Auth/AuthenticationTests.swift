import Foundation
import HTTPTypes
import JWTKit
import NIOConcurrencyHelpers
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct AuthenticationTests {
    /// A JWT that somebody else has signed.
    static func foreignToken() async throws -> String {
        struct Claims: JWTPayload {
            var iss = "https://auth.eka.care"
            var exp = 1
            var b = "b-demo-2"
            func verify(using algorithm: some JWTAlgorithm) throws {}
        }
        let keys = JWTKeyCollection()
        await keys.add(hmac: "somebody else's key of some length", digestAlgorithm: .sha256)
        return try await keys.sign(Claims())
    }

    func businesses(
        _ mode: AuthMode, _ headers: HTTPFields, demoSeed: Bool = true
    ) async throws -> (status: Int, business: String?) {
        var server = try TestServer()
        server.configuration.authMode = mode
        server.configuration.hasDemoSeed = demoSeed
        let answer = Box()
        try await server.run { client in
            let result = try await client.initialise("t", headers: headers)
            answer.set((result.status, result.optional("b_id")))
        }
        return answer.value
    }

    @Test(
        "a foreign token stands for the demo business, except in strict mode",
        arguments: [
            (AuthMode.lenient, 201), (.open, 201), (.strict, 401),
        ])
    func foreign(mode: AuthMode, status: Int) async throws {
        let token = try await Self.foreignToken()
        for headers in [[.authorization: "Bearer \(token)"], [.auth: token]] as [HTTPFields] {
            let result = try await businesses(mode, headers)
            #expect(result.status == status)
            #expect(result.business == (status == 201 ? "b-demo" : nil))
        }
    }

    @Test(
        "a request without a token stands for the demo business in open mode only", .covers("C-80"),
        arguments: [
            (AuthMode.lenient, 401), (.open, 201), (.strict, 401),
        ])
    func missing(mode: AuthMode, status: Int) async throws {
        #expect(try await businesses(mode, [:]).status == status)
        #expect(try await businesses(mode, [.authorization: "Bearer "]).status == status)
    }

    @Test("a token that cannot be decoded is refused in every mode", arguments: AuthMode.allCases)
    func undecodable(mode: AuthMode) async throws {
        for token in ["x", "a.b.c", "....", "undefined"] {
            #expect(try await businesses(mode, [.authorization: "Bearer \(token)"]).status == 401)
        }
    }

    @Test(
        "either credential header is enough if the other one is absent or unusable", .covers("C-78", "C-79"),
        arguments: Transport.allCases)
    func bothHeaders(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let token = try #require(try await anonymous.login().headers[.authorization]).dropFirst("Bearer ".count)
            let raw = try await anonymous.initialise("t", headers: [.authorization: "Bearer x", .auth: String(token)])
            #expect(raw.status == 201)
            let only = try await anonymous.initialise("u", headers: [.auth: String(token)])
            #expect(only.status == 201)
            let bare = try await anonymous.initialise("v", headers: [.authorization: String(token)])
            #expect(bare.status == 201)
        }
    }

    @Test("an expired or changed token of this server is refused with the gateway's body", .covers("C-81"))
    func ours() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            var client = try await anonymous.login()
            manual.advance(by: .seconds(86_400))
            let expired = try await client.get("/voice/api/v2/transaction/history")
            #expect(expired.status == 401)
            #expect(try expired["error"] == "Unauthorized")
            #expect(try expired["message"] == "The token has expired")
            client = try await anonymous.login()
            client.headers[.authorization]?.removeLast(4)
            #expect(try await client.get("/voice/api/v2/transaction/history").status == 401)
        }
    }

    @Test("tokens survive a restart, because the key is kept")
    func restart() async throws {
        let server = try TestServer()
        let token = Box<String?>(nil)
        try await server.run { token.set(try await $0.login().headers[.authorization]) }
        try await server.run { client in
            let answer = try await client.get(
                "/voice/api/v2/transaction/history", headers: [.authorization: token.value ?? ""]
            )
            #expect(answer.status == 200)
        }
    }

    @Test("strict mode has no demo clients unless the demo seed is switched on")
    func strictSeed() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        try await server.run { client in
            let answer = try await client.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#
            )
            #expect(answer.status == 401)
        }
    }

    @Test("strict mode removes an earlier start's demo clients, their tokens and their S3 credentials")
    func strictAfterLenient() async throws {
        var server = try TestServer()
        let tokens = Box<(access: String?, refresh: String?)>((nil, nil))
        let path = "/b/folder/file"
        let upload = Box<HTTPFields>([:])
        let now = server.manual.now
        try await server.run { client in
            let answer = try await client.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#
            )
            tokens.set((try answer["access_token"], try answer["refresh_token"]))
            upload.set(try await client.login().signer().sign("PUT", path, at: now))
            #expect(try await client.send(.put, path, headers: upload.value, body: Data("a".utf8)).status == 200)
        }
        server.configuration.authMode = .strict
        try await server.run { client in
            let refused = try await client.send(.put, path, headers: upload.value, body: Data("b".utf8))
            #expect(refused.status == 403)
            #expect(refused.text.contains("<Code>InvalidAccessKeyId</Code>"))
            let history = try await client.get(
                "/voice/api/v2/transaction/history", headers: [.auth: tokens.value.access ?? ""]
            )
            #expect(history.status == 401)
            let refresh = try await client.post(
                "/connect-auth/v1/account/refresh-token", #"{"refresh_token":"\#(tokens.value.refresh ?? "")"}"#
            )
            #expect(refresh.status == 403)
        }
    }

    @Test("a token of this server wins over a foreign token in the other header")
    func oursAmongTwo() async throws {
        try await TestServer().run { anonymous in
            let ours = try #require(
                try await anonymous.login("dev-client-2", "dev-secret-2").headers[.authorization]
            ).dropFirst("Bearer ".count)
            let foreign = try await Self.foreignToken()
            let answer = try await anonymous.initialise(
                "t", headers: [.authorization: "Bearer \(foreign)", .auth: String(ours)]
            )
            #expect(try answer["b_id"] == "b-demo-2")
        }
    }
}
