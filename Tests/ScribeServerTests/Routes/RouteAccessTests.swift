import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer

/// Who may call which route: each declares it where it is added.
struct RouteAccessTests {
    /// The routes that anyone may call, besides the documents.
    private static let open: Set<String> = [
        "GET /livez", "GET /readyz", "GET /metrics", "GET /ca.pem", "GET /voice/ping",
        "POST /connect-auth/v1/login", "POST /connect-auth/v1/account/login",
        "POST /connect-auth/v1/account/refresh-token", "POST /connect-auth/v1/account/refresh",
        "POST /connect-auth/v1/account/logout", "POST /connect-auth/v1/refresh", "GET /connect-auth/v1/auth-mode",
        "POST /connect-auth/v1/device/code", "POST /connect-auth/v1/device/token", "GET /auth/activate",
        "GET /voice/v1/.well-known/medscribealliance",
        "POST /api/v1/auth/register", "POST /api/v1/auth/login", "GET /api/auth/.well-known/jwks-pub.json",
        "GET /v1/models", "GET /v1/models/{model_id}",
    ]
    /// A page's socket is open before its first message has brought the token.
    private static let late = "/v4/web/listen"

    private static func server(operatorToken: String? = nil) throws -> TestServer {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        server.configuration.adminToken = operatorToken
        return server
    }

    @Test("exactly the logins, the documents and the routes of health are open")
    func openRoutes() async throws {
        let routes = try await EmulatedRoute.all().filter(\.isOpen).map(\.pattern)
        #expect(Set(routes.filter { !$0.hasSuffix(".yaml") }) == Self.open)
    }

    @Test("in strict mode every route but an open one refuses a request without a token, and one with a wrong token")
    func strangers() async throws {
        let routes = try await EmulatedRoute.all().filter { !$0.isOpen && $0.path != Self.late }
        try await Self.server(operatorToken: "operator").run { client in
            for token in [nil, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJkciJ9.x", "", "operator"] as [String?] {
                // Wrong operators' tokens are slowed down: ControlTests.
                for route in routes where token == nil || !route.isOfOperator {
                    let headers: HTTPFields = token.map { [.authorization: "Bearer \($0)"] } ?? [:]
                    let answer = try await client.send(route.method, route.path, headers: headers)
                    #expect([401, 403].contains(answer.status), "\(route.pattern): \(answer.text)")
                }
            }
        }
    }

    @Test("in strict mode the token of a route's kind opens it")
    func holders() async throws {
        let routes = try await EmulatedRoute.all().filter(\.isChecked)
        try await Self.server(operatorToken: "operator").run { anonymous in
            let client = try await anonymous.login()
            for route in routes where !route.path.hasPrefix("/api/v1/") {
                let headers: HTTPFields = route.isOfOperator ? [.authorization: "Bearer operator"] : client.headers
                let answer = try await anonymous.send(route.method, route.path, headers: headers)
                #expect(answer.status != 401, "\(route.pattern): \(answer.text)")
            }
        }
    }

    @Test("in strict mode every route of operators needs their token, on loopback too")
    func closedOperators() async throws {
        let routes = try await EmulatedRoute.all().filter(\.isOfOperator)
        #expect(routes.count > 50)
        try await Self.server().run { client in
            // A wrong token would be throttled.
            for headers in [[:], [.scribeAdmin: "1"]] as [HTTPFields] {
                for route in routes {
                    let answer = try await client.send(route.method, route.path, headers: headers)
                    #expect(answer.status == 401, "\(route.pattern)")
                    #expect(try answer["code"] == "unauthenticated", "\(route.pattern)")
                }
            }
        }
    }

    @Test("a route that declares no access is closed")
    func undeclared() async throws {
        let family = RoutedFamily(ForgetfulAPI())
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        for (path, status) in [("/forgetful/closed", 401), ("/forgetful/open", 200)] {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
            let answer = try await family.respond(
                to: Request(head: head, body: .init(buffer: ByteBuffer())),
                context: ScribeContext(source: .init(channel: EmbeddedChannel(), logger: logger)))
            #expect(answer.status.code == status)
        }
    }

    private struct ForgetfulAPI: RoutedAPI {
        let name = "Forgetful"
        let errors: any ErrorTable = HelloErrors()

        func addRoutes(to routes: RouteGroup) {
            routes.get("forgetful/closed") { _, _ in Response(status: .ok) }
            routes.group(access: .open).get("forgetful/open") { _, _ in Response(status: .ok) }
        }
    }
}
