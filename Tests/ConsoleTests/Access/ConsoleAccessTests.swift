import Basics
import Foundation
import HTTPTypes
import ScribeHTTP
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

/// Who may open the console, load its parts and act by it.
struct ConsoleAccessTests {
    private static let fault = #"{"operation":"commitTransaction","status":503}"#

    @Test("the console opens without a login on loopback", arguments: Transport.allCases)
    func opens(transport: Transport) async throws {
        try await TestServer().run(transport) { client in
            let page = try await client.get("/__console", headers: ConsoleVisitor.navigation)
            #expect(page.status == 200)
            let cookie = try #require(page.headers[.setCookie])
            for part in ["Path=/__console", "HttpOnly", "SameSite=Strict", "Max-Age=43200"] {
                #expect(cookie.contains(part), "\(cookie)")
            }
            #expect(cookie.contains("Secure") == (transport == .tls))
            let policy = try #require(page.headers[.contentSecurityPolicy])
            #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
            #expect(page.headers[.cacheControl] == "no-store")
            #expect(page.headers[.referrerPolicy] == "no-referrer")
            #expect(page.headers[.contentTypeOptions] == "nosniff")
        }
    }

    @Test("style sheets, scripts and icons of the console need its cookie and a same-origin request")
    func loads() async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            for path in ["/style.css", "/app.js", "/try.js", "/recorder.js", "/icon.svg"] {
                let answer = try await visitor.load(path)
                #expect(answer.status == 200 && !answer.body.isEmpty, "\(path)")
                let url = ConsoleVisitor.root + path
                #expect(try await client.get(url).status == 403)
                #expect(try await client.get(url, headers: [.cookie: visitor.cookie]).status == 403)
                #expect(try await client.get(url, headers: [.secFetchSite: "same-origin"]).status == 401)
                for site in ["cross-site", "same-site", "none"] {
                    let foreign: HTTPFields = [.cookie: visitor.cookie, .secFetchSite: site]
                    #expect(try await client.get(url, headers: foreign).status == 403, "\(path) \(site)")
                }
            }
            #expect(try await visitor.load("/nonesuch.css").status == 404)
        }
    }

    @Test("a console action needs cookie, page token and origin, and then calls the operator API")
    func acts() async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            let url = "/__console/admin/faults"
            for missing in [HTTPField.Name.cookie, .scribeConsole, .origin, .secFetchSite] {
                var headers = visitor.script
                headers[missing] = nil
                let answer = try await client.post(url, Self.fault, headers: headers)
                #expect([401, 403].contains(answer.status), "\(missing)")
                #expect(answer.headers[.contentType] == "application/problem+json")
            }
            var foreign = visitor.script
            foreign[.origin] = "https://evil.example"
            #expect(try await client.post(url, Self.fault, headers: foreign).status == 403)
            var wrong = visitor.script
            wrong[.scribeConsole] = String(visitor.token.reversed())
            #expect(try await client.post(url, Self.fault, headers: wrong).status == 403)
            #expect(try await client.get("/__admin/faults").text.contains(#""faults":[]"#))
            let added = try await visitor.act(.post, "/admin/faults", Self.fault)
            #expect(added.status == 201, "\(added.text)")
            let id = try added["id"]
            #expect(try await client.get("/__admin/faults").text.contains(id))
            #expect(try await visitor.act(.delete, "/admin/faults/\(id)").status == 204)
            let refused = try await visitor.act(.post, "/admin/faults", #"{"nonesuch":1}"#)
            #expect(refused.status == 400)
            #expect(try refused["code"] == "invalid_request")
        }
    }

    @Test("the console's cookie gives no access to the operator API")
    func cookieAlone() async throws {
        var server = try TestServer()
        server.configuration.adminToken = "operator"
        try await server.run { client in
            let visitor = try await ConsoleVisitor(client)
            let logIn = try await visitor.act(.post, "/login", #"{"token":"operator"}"#)
            #expect(logIn.status == 204, "\(logIn.text)")
            let cookie = try #require(logIn.headers[.setCookie]?.split(separator: ";").first.map(String.init))
            #expect(cookie != visitor.cookie)
            #expect(!cookie.contains("operator"))
            let answer = try await client.get(
                "/__admin/info", headers: [.cookie: cookie, .secFetchSite: "same-origin", .scribeAdmin: "1"])
            #expect(answer.status == 401)
            let page = try await client.get(
                "/__console/bench", headers: ConsoleVisitor.navigation + [.cookie: cookie])
            #expect(page.status == 200 && page.text.contains("Test bench"))
            #expect(!page.text.contains("operator\""))
            let before = try await client.get(
                "/__console/bench", headers: ConsoleVisitor.navigation + [.cookie: visitor.cookie])
            #expect(before.status == 401, "the session before the login has ended")
        }
    }

    @Test("the console of a server with an operator token shows only the login before it is given")
    func locked() async throws {
        var server = try TestServer()
        server.configuration.adminToken = "operator"
        try await server.run { client in
            let page = try await client.get("/__console", headers: ConsoleVisitor.navigation)
            #expect(page.status == 401)
            #expect(page.text.contains("Open the console") && !page.text.contains("Consultations"))
            let visitor = try await ConsoleVisitor(client)
            #expect(try await visitor.load("/style.css").status == 200, "the login looks right")
            #expect(try await visitor.load("/events").status == 401)
            #expect(try await visitor.load("/audio/b/i-1/1.wav").status == 401)
            #expect(try await visitor.act(.post, "/admin/faults", Self.fault).status == 401)
            #expect(try await visitor.act(.post, "/token", "{}").status == 401)
            let wrong = try await visitor.act(.post, "/login", #"{"token":"guess"}"#)
            #expect(wrong.status == 401)
            #expect(try wrong["code"] == "wrong_token")
            #expect(wrong.headers[.setCookie] == nil)
            #expect(try await visitor.act(.post, "/login", "{}").status == 400)
        }
    }

    @Test("console routes refuse a console login after twelve hours and after a logout")
    func ends() async throws {
        let server = try TestServer()
        try await server.run { client in
            let visitor = try await ConsoleVisitor(client)
            #expect(try await visitor.act(.post, "/token", "{}").status == 200)
            #expect(try await visitor.act(.post, "/logout", "{}").status == 204)
            #expect(try await visitor.act(.post, "/token", "{}").status == 401)
            let other = try await ConsoleVisitor(client)
            server.manual.advance(by: .seconds(12 * 3600))
            #expect(try await other.act(.post, "/token", "{}").status == 401)
        }
    }

    @Test("the event stream of a page ends when its session logs out")
    func streams() async throws {
        let server = try TestServer()
        try await server.run { client in
            let visitor = try await ConsoleVisitor(client)
            async let stream = visitor.load("/events")
            try await server.manual.waitFor(.console)
            #expect(try await visitor.act(.post, "/logout", "{}").status == 204)
            server.manual.advance(by: .seconds(1))
            #expect(try await stream.text.hasPrefix(": the console"))
        }
    }

    @Test("under strict authentication the console never opens without a token")
    func strict() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        try await server.run { client in
            let page = try await client.get("/__console", headers: ConsoleVisitor.navigation)
            #expect(page.status == 401)
            #expect(page.text.contains("Open the console") && page.text.contains("/admin-token"))
            let visitor = try await ConsoleVisitor(client)
            #expect(try await visitor.act(.post, "/admin/faults", Self.fault).status == 401)
        }
    }

    @Test("a page of another origin can neither embed nor fetch the console, and a link from one changes nothing")
    func foreign() async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            for site in ["cross-site", "same-site"] {
                var framed = ConsoleVisitor.navigation
                framed[.secFetchSite] = site
                framed[.secFetchDest] = "iframe"
                #expect(try await client.get("/__console", headers: framed).status == 403)
                let fetched: HTTPFields = [.secFetchSite: site, .secFetchMode: "cors", .secFetchDest: "empty"]
                #expect(try await client.get("/__console", headers: fetched).status == 403)
                var link = ConsoleVisitor.navigation
                link[.secFetchSite] = site
                let page = try await client.get("/__console/bench?namespace=default", headers: link)
                #expect(page.status == 200)
                #expect(page.headers[.setCookie] == nil)
                #expect(page.text.contains(#"content="0; url=/__console/bench?namespace=default""#), "\(page.text)")
                #expect(!page.text.contains("scribe-console"))
                #expect(try await client.send(.post, "/__console", headers: link).status == 404)
            }
            let preflight = try await client.send(
                .options, "/__console/admin/faults",
                headers: [.origin: "http://localhost:3000", .accessControlRequestMethod: "POST"])
            #expect(preflight.headers[.accessControlAllowOrigin] == nil)
            let read = try await client.get(
                "/__console", headers: [.origin: "http://localhost:3000", .cookie: visitor.cookie])
            #expect(read.status == 403)
            #expect(read.headers[.accessControlAllowOrigin] == nil)
        }
    }

    @Test("the console refuses requests through a proxy unless the server has an operator token")
    func forwarded() async throws {
        try await TestServer().run { client in
            let headers = ConsoleVisitor.navigation + [.forwardedFor: "192.0.2.1"]
            let page = try await client.get("/__console", headers: headers)
            #expect(page.status == 403)
            #expect(page.text.contains("A proxy forwarded this"))
        }
    }

    @Test("the console's own requests are not in the journal")
    func journal() async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            #expect(try await visitor.page("/requests").status == 200)
            #expect(try await visitor.act(.post, "/admin/faults", Self.fault).status == 201)
            #expect(try await client.get("/__admin/requests").text.contains(#""requests":[]"#))
        }
    }

    @Test("the console issues the demo client's token to its page that tries the server out")
    func token() async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            let answer = try await visitor.act(.post, "/token", "{}")
            #expect(try answer["client"] == "dev-client")
            #expect(!answer.text.contains("dev-secret"))
            let bearer: HTTPFields = [.authorization: "Bearer \(try answer["access_token"])"]
            #expect(try await client.get("/voice/api/v2/transaction/history", headers: bearer).status == 200)
            #expect(try await visitor.act(.post, "/token", #"{"client":"nobody"}"#).status == 404)
            #expect(try await visitor.act(.post, "/token", "[]").status == 400)
        }
    }
}
