import Basics
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

struct AccountRoutesTests {
    @Test("login gives tokens whose claims name business, user and doctor", arguments: Transport.allCases)
    func login(transport: Transport) async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run(transport) { client in
            let answer = try await client.post(
                "/connect-auth/v1/account/login",
                #"{"client_id":"dev-client-2","client_secret":"dev-secret-2","sharing_key":""}"#
            )
            #expect(answer.status == 200)
            #expect(answer.json["expires_in"] == .integer(86_400))
            #expect(answer.json["refresh_expires_in"] == .integer(2_592_000))
            let parts = try answer["access_token"].split(separator: ".")
            #expect(parts.count == 3)
            let claims = try JSONDocument(try #require(base64URL(parts[1]))).value
            #expect(claims["b-id"] == .string("b-demo-2"))
            #expect(claims["c-id"] == .string("dev-client-2"))
            #expect(claims["uuid"] == .string("u-demo-2"))
            #expect(claims["oid"] == .string("o-demo-2"))
            #expect(claims["exp"] == .integer(Int64(now.timeIntervalSince1970) + 86_400))
        }
    }

    @Test(
        "an invalid login is refused in the documented shape",
        arguments: [
            (#"{"client_id":"dev-client","client_secret":"wrong"}"#, 401),
            (#"{"client_id":"nobody","client_secret":"dev-secret"}"#, 401),
            (#"{"client_id":"dev-client\u0000","client_secret":"dev-secret"}"#, 401),
            (#"{"client_id":"dev-client"}"#, 400), (#"{"client_id":7,"client_secret":"x"}"#, 400),
            ("[]", 400), ("{", 400), ("", 400), ("null", 400),
        ]
    )
    func refused(body: String, status: Int) async throws {
        try await TestServer().run { client in
            let answer = try await client.post("/connect-auth/v1/account/login", body)
            #expect(answer.status == status)
            #expect(answer.json["code"] == .integer(Int64(status)))
            #expect(try answer["error"].isEmpty == false)
            #expect(!answer.text.contains("dev-secret"))
        }
    }

    @Test(
        "a refresh token gives new tokens, works for one more minute, and is then refused with 403", .covers("C-111"),
        arguments: ["refresh-token", "refresh"])
    func refresh(route: String) async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { client in
            let login = try await client.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#
            )
            let token = try login["refresh_token"]
            func refresh(_ token: String) async throws -> TestAnswer {
                try await client.post(
                    "/connect-auth/v1/account/\(route)", #"{"refresh_token":"\#(token)","access_token":"x"}"#)
            }
            // Long after the access token has expired.
            manual.advance(by: .seconds(7200))
            let first = try await refresh(token)
            #expect(first.status == 200)
            #expect(try first["refresh_token"] != token)
            let again = try await refresh(token)
            #expect(again.status == 200)
            #expect(try again["refresh_token"] == first["refresh_token"], "as often as it is asked")
            manual.advance(by: .seconds(61))
            let late = try await refresh(token)
            #expect(late.status == 403)
            #expect(late.json["code"] == .integer(403))
            #expect(try await refresh("nonsense").status == 403)
            #expect(try await refresh(try first["refresh_token"]).status == 403, "the family has ended")
        }
    }

    @Test(
        "a refresh token used after its minute, by either clock, ends the refresh and access tokens of its login alone",
        arguments: [true, false])
    func theft(byWorldClock: Bool) async throws {
        var server = try TestServer(onSQLite: true)
        server.configuration.isEphemeral = true
        try await server.run { [manual = server.manual] client in
            let credentials = #"{"client_id":"dev-client","client_secret":"dev-secret"}"#
            func login() async throws -> TestAnswer {
                try await client.post("/connect-auth/v1/account/login", credentials)
            }
            func refresh(_ answer: TestAnswer) async throws -> TestAnswer {
                let token = try answer["refresh_token"]
                return try await client.post(
                    "/connect-auth/v1/account/refresh-token", #"{"refresh_token":"\#(token)"}"#)
            }
            func status(_ answer: TestAnswer) async throws -> Int {
                let token = try answer["access_token"]
                return try await client.get("/credentials", headers: [.authorization: "Bearer \(token)"]).status
            }
            let (stolen, other) = (try await login(), try await login())
            let next = try await refresh(stolen)
            #expect(next.status == 200)
            #expect(try await status(stolen) == 200)
            if byWorldClock {
                #expect(try await client.post("/__admin/clock/advance", #"{"by":"61s"}"#).status == 200)
            } else {
                manual.advance(by: .seconds(61))
            }
            #expect(try await refresh(stolen).status == 403)
            #expect(try await refresh(next).status == 403)
            for answer in [stolen, next] { #expect(try await status(answer) == 401) }
            #expect(try await status(other) == 200)
            #expect(try await refresh(other).status == 200)
        }
    }

    @Test("wrong client secrets are slowed down, and one that has been right is not")
    func guessing() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { client in
            @Sendable func login(_ secret: String, _ id: String = "dev-client") async throws -> TestAnswer {
                try await client.post(
                    "/connect-auth/v1/account/login", #"{"client_id":"\#(id)","client_secret":"\#(secret)"}"#)
            }
            #expect(try await login("dev-secret").status == 200)
            for _ in 1...20 { #expect(try await login("guess").status == 401) }
            async let held = login("guess")
            try await manual.waitFor(.failedLogin)
            #expect(try await login("dev-secret").status == 200, "it has been right before")
            #expect(try await login("dev-secret-2", "dev-client-2").status == 200, "another client is another matter")
            manual.advance(by: .seconds(1))
            #expect(try await held.status == 401)
            #expect(try await login("guess").status == 401, "it begins anew")
        }
    }

    private static let page = "/connect-auth/v1/login"

    @Test("the vendor's login page gets its success status, tokens and cookies", arguments: Transport.allCases)
    func page(transport: Transport) async throws {
        try await TestServer().run(transport) { client in
            let answer = try await client.post(Self.page, #"{"username":"dev-client","password":"dev-secret"}"#)
            #expect(answer.status == 200)
            #expect(try answer["status"] == "success")
            #expect(try answer["access_token"].isEmpty == false)
            #expect(answer.headers[values: .setCookie].count == 2)
            let other = try await client.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            #expect(other.json["status"] == nil)
        }
    }

    @Test(
        "the vendor's login page gets an error for a wrong password or an invalid body",
        arguments: [
            (#"{"username":"dev-client","password":"wrong"}"#, 401),
            (#"{"username":"dev-client\u0000","password":""}"#, 401),
            (#"{"username":"dev-client"}"#, 400), ("[]", 400), ("", 400),
        ])
    func refusedPage(body: String, status: Int) async throws {
        try await TestServer().run { client in
            let answer = try await client.post(Self.page, body)
            #expect(answer.status == status)
            if status == 401 { #expect(try answer["error.code"] == "invalid_credentials") }
            let form = try await client.send(
                .post, Self.page, headers: [.contentType: "text/plain"], body: Data(body.utf8))
            #expect(form.status == 415)
            let foreign = try await client.send(
                .post, Self.page, headers: [.contentType: "application/json", .origin: "https://evil.example"],
                body: Data(body.utf8))
            #expect(foreign.status == 403)
        }
    }

    @Test("wrong passwords at the vendor's login page are slowed down as at any other login")
    func guessingAtPage() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { client in
            @Sendable func login(_ secret: String) async throws -> TestAnswer {
                try await client.post(Self.page, #"{"username":"dev-client","password":"\#(secret)"}"#)
            }
            for _ in 1...20 { #expect(try await login("guess").status == 401) }
            async let held = login("dev-secret")
            try await manual.waitFor(.failedLogin)
            manual.advance(by: .seconds(1))
            #expect(try await held.status == 200, "the right one waits, and is not refused")
            #expect(try await login("dev-secret").status == 200)
        }
    }

    @Test("a body that is too large for a login is not read to its end")
    func largeLogin() async throws {
        try await TestServer().run { client in
            let body = #"{"client_id":"\#(String(repeating: "x", count: 17_000))"}"#
            let answer = try await client.post("/connect-auth/v1/account/login", body)
            #expect(answer.status == 413)
        }
    }

    private func base64URL(_ text: Substring) -> Data? {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4))
    }

    @Test("the vendor's own apps read the login mode and the user, and refresh at the desktop app's path")
    func vendorsApps() async throws {
        try await TestServer().run { anonymous in
            let mode = try await anonymous.get("/connect-auth/v1/auth-mode")
            #expect(mode.status == 200)
            #expect(mode.json["oidc_enabled"] == .bool(false))
            let login = try await anonymous.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            let path = "/connect-auth/v1/refresh"
            let fresh = try await anonymous.post(path, #"{"refresh_token":"\#(try login["refresh_token"])"}"#)
            #expect(fresh.status == 200)
            #expect(try fresh["access_token"].isEmpty == false)
            #expect(try await anonymous.post(path, #"{"refresh_token":"nope"}"#).status == 403)
            #expect(try await anonymous.post(path, "{}").status == 400)
            let client = try await anonymous.login()
            #expect(try await client.get("/connect-auth/v1/account/whoami")["identity"] == "dev-client")
        }
    }
}
