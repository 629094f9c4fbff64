import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer

/// A fault looks as a refusal of the same route does.
struct RouteErrorsTests {
    /// Routes of the emulated APIs that refuse nothing.
    private static let willing: Set<String> = [
        "GET /voice/ping", "GET /connect-auth/v1/auth-mode", "GET /auth/activate",
        "GET /voice/v1/.well-known/medscribealliance", "GET /api/auth/.well-known/jwks-pub.json",
        "GET /v1/models",
    ]

    private static func server() throws -> TestServer {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        server.configuration.adminToken = "operator"
        server.configuration.readsFaultHeader = true
        return server
    }

    /// The routes of the emulated APIs, except those about the server itself.
    private static func routes() async throws -> [EmulatedRoute] {
        try await EmulatedRoute.all().filter { route in
            !route.isOfOperator && !route.path.hasSuffix(".yaml")
                && !["/livez", "/readyz", "/metrics", "/ca.pem"].contains(route.path)
        }
    }

    /// The members of an answer, with the texts that name its transaction and business.
    private static func form(of value: JSONValue, named name: String = "") -> JSONValue {
        switch value {
        // Which an error code has or has not.
        case .object(let members):
            .object(
                members.filter { $0.key != "details" }
                    .reduce(into: [:]) { $0[$1.key] = form(of: $1.value, named: $1.key) })
        // FastAPI's place of a fault: a rule knows none.
        case .array where name == "loc": .array([])
        case .array(let items): .array(items.map { form(of: $0) })
        case .string where ["txn_id", "b_id"].contains(name): value
        case .string: .string("a text")
        case .integer, .number, .digits: .integer(0)
        case .null, .bool: value
        }
    }

    private static func expectAlike(_ real: TestAnswer, _ fault: TestAnswer, _ route: EmulatedRoute) {
        #expect(fault.headers[.scribeFaultApplied] != nil, "\(route.pattern): \(fault.text)")
        #expect(fault.status == real.status, "\(route.pattern)")
        #expect(form(of: fault.json) == form(of: real.json), "\(route.pattern): \(fault.text) is not as \(real.text)")
        #expect(fault.headers[.contentType] == real.headers[.contentType], "\(route.pattern)")
    }

    @Test(
        "a fault has the envelope of a real refusal of its route, with and without a token",
        arguments: ["", "android"])
    func envelopes(flavour: String) async throws {
        let routes = try await Self.routes()
        try await Self.server().run { anonymous in
            let client = try await anonymous.login()
            for headers in [[:], client.headers] as [HTTPFields] {
                var willing: Set<String> = []
                for route in routes {
                    let headers = headers + [.flavour: flavour]
                    let real = try await anonymous.send(
                        route.method, route.path, headers: headers, body: Data("{".utf8))
                    guard real.status >= 400 else {
                        willing.insert(route.pattern)
                        continue
                    }
                    let fault = try await anonymous.send(
                        route.method, route.path, headers: headers + [.scribeFault: "status=\(real.status)"])
                    Self.expectAlike(real, fault, route)
                }
                if headers.isEmpty { #expect(willing == Self.willing) }
            }
        }
    }

    @Test("a rule's fault has the envelope of its route too, whatever its status and code")
    func rules() async throws {
        try await Self.server().run { anonymous in
            let client = try await anonymous.login()
            for (method, path) in [
                (HTTPRequest.Method.post, "/voice/api/v1/template"), (.post, "/v1/file-upload"),
                (.post, "/voice/api/v1/template/section"), (.post, "/voice/api/v1/template/ai-create-template"),
            ] {
                let real = try await client.send(method, path, body: Data("{".utf8))
                for rule in [#"{"status":400,"code":"own"}"#, #"{"status":400,"when":"after"}"#, #"{"status":500}"#] {
                    _ = try await anonymous.post(
                        "/__admin/faults/next", rule, headers: [.authorization: "Bearer operator"])
                    let fault = try await client.send(method, path, body: Data("{".utf8))
                    #expect(fault.headers[.scribeFaultApplied] != nil)
                    #expect(Self.form(of: fault.json) == Self.form(of: real.json), "\(path): \(fault.text)")
                }
            }
        }
    }

    @Test("an unknown path has the errors of the routes beside it, and so has a fault there")
    func unknown() async throws {
        try await Self.server().run { client in
            for (path, member) in [
                ("/connect-auth/v1/account/none", "code"), ("/connect-auth/v1/none", "code"),
                ("/connect-auth/v1/device/none", "txn_id"), ("/notification/v1/none", "error"),
                ("/voice/api/v1/none", "txn_id"), ("/voice/none", "txn_id"),
            ] {
                let real = try await client.get(path)
                #expect(real.status == 404)
                #expect(real.has(member), "\(path): \(real.text)")
                let fault = try await client.get(path, headers: [.scribeFault: "status=404"])
                #expect(Self.form(of: fault.json) == Self.form(of: real.json), "\(path): \(fault.text)")
            }
        }
    }
}
