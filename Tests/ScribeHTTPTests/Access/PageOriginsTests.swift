import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import ScribeHTTP
@testable import ScribeServer

/// What a page may do with the cookies of whoever looks at it.
struct PageOriginsTests {
    private static let json: HTTPFields = [.contentType: "application/json"]
    private static let text: HTTPFields = [.contentType: "text/plain"]
    /// Of requests without a host of their own, as tests send them in process.
    private static let own = "http://localhost"

    private func server(_ mode: AuthMode, origins: [String]? = nil) throws -> TestServer {
        var server = try TestServer()
        server.configuration.authMode = mode
        server.configuration.hasDemoSeed = true
        server.configuration.allowedOrigins = origins
        return server
    }

    /// A client that has what its browser keeps of a login, and nothing else.
    private func browser(_ client: TestScribeClient) async throws -> TestScribeClient {
        let login = try await client.post(
            "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
        var browser = client
        browser.headers[.cookie] = login.headers[values: .setCookie].map { String($0.prefix { $0 != ";" }) }
            .joined(separator: "; ")
        return browser
    }

    @Test("every operation that takes a cookie refuses a foreign page's cookie, in its family's format")
    func foreignPages() async throws {
        let operations = try DocumentedOperation.all().filter(\.takesCookie)
        #expect(operations.count > 50)
        try await server(.lenient).run { [self] anonymous in
            let browser = try await browser(anonymous)
            for operation in operations {
                for origin in [
                    "https://evil.example", "null", "http://localhost:80@evil.example", "https://eka.care.evil.example",
                ] {
                    let answer = try await browser.send(
                        operation.method, operation.path, headers: Self.json + [.origin: origin], body: Data("{}".utf8))
                    #expect(answer.status == 403, "\(operation) from \(origin)")
                    let isOurs =
                        ["permission_denied", "FORBIDDEN"].contains(answer.optional("error.code"))
                        || answer.json["code"] == .integer(403)
                    #expect(isOurs, "\(operation): \(answer.text)")
                }
                for site in ["cross-site", "same-site"] where operation.method != .get {
                    let answer = try await browser.send(
                        operation.method, operation.path, headers: Self.json + [.secFetchSite: site],
                        body: Data("{}".utf8))
                    #expect(answer.status == 403, "\(operation) from \(site)")
                }
            }
        }
    }

    @Test("every operation that reads JSON refuses the content types of HTML forms if a cookie identifies the client")
    func forms() async throws {
        try await server(.lenient).run { [self] anonymous in
            let browser = try await browser(anonymous)
            let client = try await anonymous.login()
            for operation in try DocumentedOperation.all() where operation.takesCookie && operation.takesBody {
                for type in ["text/plain", "application/x-www-form-urlencoded", "text/plain; x=application/json"] {
                    let answer = try await browser.send(
                        operation.method, operation.path, headers: [.contentType: type], body: Data("{}".utf8))
                    #expect(answer.status == 415, "\(operation) as \(type): \(answer.text)")
                }
                let byToken = try await client.send(
                    operation.method, operation.path, headers: Self.text, body: Data("{}".utf8))
                #expect(byToken.status != 415, "\(operation): what a token vouches for is as before")
            }
            for type in [
                "application/json", "application/json; charset=utf-8", "Application/JSON",
                "application/merge-patch+json",
            ] {
                let answer = try await browser.post("/voice/v1/sessions", "{}", headers: [.contentType: type])
                #expect(answer.status == 422, "\(type): what it says is looked at")
            }
            #expect(
                try await browser.post("/voice/v1/sessions/none/end", "", headers: Self.text).status == 404,
                "nothing is sent")
        }
    }

    @Test(
        "pages of the server's origin, this machine and the vendor may use cookies as far as the mode allows",
        arguments: [
            (AuthMode.lenient, nil, "http://localhost", 200), (.lenient, nil, "http://localhost:3000", 200),
            (.lenient, nil, "https://doc.eka.care", 200), (.lenient, nil, "http://doc.eka.care", 403),
            (.lenient, ["https://app.example"], "https://app.example", 200),
            (.lenient, ["https://app.example"], "http://localhost:3000", 403),
            (.lenient, ["*"], "https://evil.example", 200),
            (.strict, nil, "http://localhost", 200), (.strict, nil, "http://localhost:3000", 403),
            (.strict, nil, "https://doc.eka.care", 403), (.strict, ["https://app.example"], "https://app.example", 200),
        ] as [(AuthMode, [String]?, String, Int)])
    func admitted(mode: AuthMode, origins: [String]?, origin: String, status: Int) async throws {
        try await server(mode, origins: origins).run { [self] anonymous in
            let browser = try await browser(anonymous)
            let path = "/voice/api/v2/transaction/history"
            #expect(try await browser.get(path, headers: [.origin: origin]).status == status)
            let client = try await anonymous.login()
            #expect(try await client.get(path, headers: [.origin: origin]).status == 200, "a token is not looked at")
            #expect(
                try await browser.get(path, headers: [.secFetchSite: "cross-site"]).status == 200, "a link is followed")
        }
    }

    @Test("behind a proxy the server compares a page's origin with the public URL")
    func proxied() async throws {
        var server = try server(.strict)
        server.configuration.publicURL = "https://scribe.example"
        try await server.run { [self] anonymous in
            let browser = try await browser(anonymous)
            let path = "/voice/api/v2/transaction/history"
            #expect(try await browser.get(path, headers: [.origin: "https://scribe.example"]).status == 200)
            #expect(try await browser.get(path, headers: [.origin: "https://other.example"]).status == 403)
            let sameOrigin: HTTPFields = [.origin: "https://other.example", .secFetchSite: "same-origin"]
            #expect(try await browser.get(path, headers: sameOrigin).status == 200, "a proxy has changed the host")
            #expect(
                try await browser.get(path, headers: [.origin: "null", .secFetchSite: "same-origin"]).status == 403)
        }
    }

    @Test(
        "a device is approved from configured origins only, not from another port of this machine",
        arguments: [
            (AuthMode.lenient, nil, "http://localhost:3000", 403), (.lenient, nil, "http://localhost", 200),
            (.lenient, nil, "https://doc.eka.care", 200), (.lenient, ["*"], "http://localhost:3000", 403),
            (.lenient, ["http://localhost:3000"], "http://localhost:3000", 200),
            (.strict, nil, "http://localhost:3000", 403),
            (.strict, nil, "https://doc.eka.care", 403), (.strict, ["https://app.example"], "https://app.example", 200),
            (.open, nil, "http://localhost:3000", 403),
        ] as [(AuthMode, [String]?, String, Int)])
    func devices(mode: AuthMode, origins: [String]?, origin: String, status: Int) async throws {
        try await server(mode, origins: origins).run { [self] anonymous in
            // In open mode the network vouches for whoever asks.
            let browser = mode == .open ? anonymous : try await browser(anonymous)
            let user = try await anonymous.post("/connect-auth/v1/device/code", "{}")["user_code"]
            let answer = try await browser.post(
                "/connect-auth/v1/device/approve", #"{"user_code":"\#(user)"}"#, headers: Self.json + [.origin: origin])
            #expect(answer.status == status)
            let client = try await anonymous.login()
            let byToken = try await client.post(
                "/connect-auth/v1/device/approve", #"{"user_code":"\#(user)"}"#, headers: Self.text + [.origin: origin])
            #expect(byToken.status == 200)
        }
    }

    @Test("a foreign page cannot log its reader in: forms are refused, and answers to other origins set no cookie")
    func logins() async throws {
        let body = #"{"client_id":"dev-client","client_secret":"dev-secret"}"#
        let path = "/connect-auth/v1/account/login"
        try await server(.lenient).run { client in
            for origin in ["https://evil.example", "http://localhost:3000", "null"] {
                let form = try await client.post(path, body, headers: Self.text + [.origin: origin])
                #expect(form.status == 403)
                #expect(form.json["code"] == .integer(403))
                let answer = try await client.post(path, body, headers: Self.json + [.origin: origin])
                #expect(answer.status == 200, "whoever has the secret gets the tokens")
                #expect(answer.headers[.setCookie] == nil)
            }
            for headers in [[:], [.origin: Self.own], [.origin: "https://doc.eka.care"], Self.text] as [HTTPFields] {
                #expect(try await client.post(path, body, headers: headers).headers[values: .setCookie].count == 2)
            }
        }
    }

    @Test("cookies renew tokens and log out for allowed pages only, and a refused call changes no cookie")
    func renewal() async throws {
        try await server(.lenient).run { [self] anonymous in
            let browser = try await browser(anonymous)
            for path in ["account/refresh-token", "account/refresh", "refresh", "account/logout"] {
                let path = "/connect-auth/v1/\(path)"
                let foreign = try await browser.post(path, "{}", headers: Self.json + [.origin: "https://evil.example"])
                #expect(foreign.status == 403)
                #expect(foreign.headers[.setCookie] == nil)
                #expect(try await browser.post(path, "{}", headers: [.secFetchSite: "same-site"]).status == 403)
                #expect(try await browser.post(path, "{}", headers: Self.text).status == 415)
                let other = try await browser.post(
                    path, #"{"refresh_token":"none"}"#, headers: Self.text + [.origin: "https://evil.example"])
                #expect(other.headers[.setCookie] == nil, "a token of its own ends no login of the reader's")
            }
            let renewed = try await browser.post(
                "/connect-auth/v1/account/refresh-token", "{}", headers: Self.json + [.origin: "http://localhost:3000"])
            #expect(renewed.status == 200)
            #expect(renewed.headers[values: .setCookie].count == 2, "or the page would be left with the old ones")
        }
    }

    @Test("open mode refuses state changes from foreign pages too")
    func open() async throws {
        try await server(.open).run { client in
            let body = #"{"communication_protocol":"http"}"#
            let foreign = try await client.post(
                "/voice/v1/sessions", body, headers: Self.text + [.origin: "https://evil.example"])
            #expect(foreign.status == 403)
            #expect(
                try await client.post("/voice/v1/sessions", "{}", headers: [.secFetchSite: "cross-site"]).status == 403)
            let path = "/voice/api/v2/transaction/history"
            #expect(try await client.get(path, headers: [.origin: "http://localhost:3000"]).status == 200)
            #expect(try await client.get(path).status == 200)
        }
    }
}
