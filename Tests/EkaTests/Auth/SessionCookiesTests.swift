import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import ScribeHTTP
@testable import ScribeServer

struct SessionCookiesTests {
    /// What a browser would send back.
    private func cookies(_ answer: TestAnswer) -> String {
        answer.headers[values: .setCookie].map { String($0.prefix { $0 != ";" }) }.joined(separator: "; ")
    }

    @Test("a page calls the API, refreshes its tokens and logs out by cookies alone")
    func page() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        let manual = server.manual
        try await server.run { anonymous in
            let login = try await anonymous.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            #expect(
                login.headers[values: .setCookie].allSatisfy {
                    $0.contains("HttpOnly") && $0.contains("SameSite=Lax") && !$0.contains("Secure")
                })
            let whoAmI = "/connect-auth/v1/account/whoami"
            #expect(try await anonymous.get(whoAmI, headers: [.cookie: cookies(login)]).status == 200)
            #expect(
                try await anonymous.get(
                    "/voice/v1/sessions/none", headers: [.cookie: cookies(login)]
                ).status == 404, "the session protocol knows them too")
            #expect(
                try await anonymous.get(
                    whoAmI, headers: [.cookie: cookies(login), .authorization: "Bearer x"]
                ).status == 401, "a token that is sent counts alone")
            manual.advance(by: .seconds(86_401))
            #expect(try await anonymous.get(whoAmI, headers: [.cookie: cookies(login)]).status == 401)
            let renewed = try await anonymous.post(
                "/connect-auth/v1/account/refresh-token", "{}", headers: [.cookie: cookies(login)])
            #expect(renewed.status == 200)
            #expect(try await anonymous.get(whoAmI, headers: [.cookie: cookies(renewed)]).status == 200)
            let over = try await anonymous.post(
                "/connect-auth/v1/account/logout", "", headers: [.cookie: cookies(renewed)])
            #expect(try over["status"] == "success")
            #expect(over.headers[values: .setCookie].allSatisfy { $0.contains("Max-Age=0") })
            #expect(
                try await anonymous.post(
                    "/connect-auth/v1/account/refresh-token", "{}", headers: [.cookie: cookies(renewed)]
                ).status == 403)
            #expect(try await anonymous.post("/connect-auth/v1/account/refresh-token", "{}").status == 400)
            #expect(try await anonymous.post("/connect-auth/v1/account/logout", "").status == 200)
        }
    }

    @Test("a logout ends the refresh token of the app")
    func app() async throws {
        try await TestServer().run { anonymous in
            let login = try await anonymous.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            let body = #"{"refresh_token":"\#(try login["refresh_token"])"}"#
            #expect(try await anonymous.post("/connect-auth/v1/account/logout", body).status == 200)
            #expect(try await anonymous.post("/connect-auth/v1/account/refresh-token", body).status == 403)
            #expect(try await anonymous.post("/connect-auth/v1/account/logout", #"{"refresh_token":7}"#).status == 400)
        }
    }

    @Test("open mode ignores a cookie of another server")
    func open() async throws {
        var server = try TestServer()
        server.configuration.authMode = .open
        try await server.run { anonymous in
            let answer = try await anonymous.get(
                "/connect-auth/v1/account/whoami", headers: [.cookie: "sess=eyJ.nothing.x"])
            #expect(answer.status == 200)
        }
    }
}
