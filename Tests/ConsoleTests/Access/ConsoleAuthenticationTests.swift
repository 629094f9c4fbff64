import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeHTTP
import ScribeRuntime
import TestSupport
import Testing

@testable import Console

/// Authentication without a server: hosts that a test's client cannot have.
struct ConsoleAuthenticationTests {
    private let sessions = ConsoleSessions()
    private let manual = ManualClock()

    private func authenticate(
        _ host: String, _ kind: ConsoleAuthentication.RequestKind, _ fields: HTTPFields = [:], id: String? = nil,
        isSecure: Bool = false
    ) -> String {
        var fields = fields
        let port = HostAndPort(host)?.port.map(String.init) ?? ""
        if let id { fields[.cookie] = "scribe_console_\(port)=\(id)" }
        let authentication = ConsoleAuthentication(
            host: "0.0.0.0", token: "operator", clock: manual.clock, sessions: sessions)
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: host, path: "/__console", headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        do {
            return switch try authentication.authenticate(request, for: kind, isSecure: isSecure, .random) {
            case .allowed: "allowed"
            case .loginRequired: "loginRequired"
            case .reload: "reload"
            }
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "the console refuses a host name that a web page could own",
        arguments: ["evil.example", "192.168.1.20.evil.example:8087", "localhost.evil.example", ""])
    func rebinding(host: String) {
        #expect(authenticate(host, .page) == "foreignHost")
    }

    @Test(
        "the console cookie needs no Sec-Fetch-Site over plain HTTP from the network, and needs it elsewhere",
        arguments: [
            ("192.168.1.20:8087", false, "allowed"), ("emulator:8087", false, "allowed"),
            ("192.168.1.20:8443", true, "foreignPage"), ("127.0.0.1:8087", false, "foreignPage"),
            ("[::1]:8087", false, "foreignPage"), ("localhost", false, "foreignPage"),
        ])
    func network(host: String, isSecure: Bool, expected: String) {
        let id = sessions.begin(isOpen: true, at: manual.now, .random).id
        #expect(authenticate(host, .data, id: id, isSecure: isSecure) == expected)
        #expect(authenticate(host, .data, [.secFetchSite: "same-origin"], id: id, isSecure: isSecure) == "allowed")
        #expect(authenticate(host, .data, [.secFetchSite: "same-site"], id: id, isSecure: isSecure) == "foreignPage")
        #expect(authenticate(host, .data, [.origin: "http://other"], id: id, isSecure: isSecure) == "foreignPage")
        #expect(authenticate(host, .page, id: id, isSecure: isSecure) == "allowed")
        #expect(authenticate(host, .page, isSecure: isSecure) == "loginRequired")
    }

    @Test("consoles on two ports of a host keep their logins apart")
    func ports() {
        let id = sessions.begin(isOpen: true, at: manual.now, .random).id
        let fields: HTTPFields = [.cookie: "scribe_console_8087=\(id)"]
        #expect(authenticate("127.0.0.1:8087", .page, fields) == "allowed")
        #expect(authenticate("127.0.0.1:8088", .page, fields) == "loginRequired")
    }
}
