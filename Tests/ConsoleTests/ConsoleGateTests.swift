import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import TestSupport
import Testing

@testable import Console

/// The gate without a server: hosts that a test's client cannot have.
struct ConsoleGateTests {
    private let sessions = ConsoleSessions()
    private let manual = ManualClock()

    private func verdict(
        _ host: String, _ use: ConsoleGate.Use, _ fields: HTTPFields = [:], id: String? = nil, isSecure: Bool = false
    ) -> String {
        var fields = fields
        let port = HostAndPort(host)?.port.map(String.init) ?? ""
        if let id { fields[.cookie] = "scribe_console_\(port)=\(id)" }
        let gate = ConsoleGate(
            host: "0.0.0.0", token: "operator", isStrict: true, clock: manual.clock, sessions: sessions)
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: host, path: "/__console", headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        do {
            return switch try gate.verdict(on: request, for: use, isSecure: isSecure, .random) {
            case .open: "open"
            case .locked: "locked"
            case .again: "again"
            }
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "the console refuses a host name that a web page could own",
        arguments: ["evil.example", "192.168.1.20.evil.example:8087", "localhost.evil.example", ""])
    func rebinding(host: String) {
        #expect(verdict(host, .page) == "foreignHost")
    }

    @Test(
        "the console cookie needs no Sec-Fetch-Site over plain HTTP from the network, and needs it elsewhere",
        arguments: [
            ("192.168.1.20:8087", false, "open"), ("emulator:8087", false, "open"),
            ("192.168.1.20:8443", true, "foreignPage"), ("127.0.0.1:8087", false, "foreignPage"),
            ("[::1]:8087", false, "foreignPage"), ("localhost", false, "foreignPage"),
        ])
    func network(host: String, isSecure: Bool, expected: String) {
        let id = sessions.begin(isOpen: true, at: manual.now, .random).id
        #expect(verdict(host, .data, id: id, isSecure: isSecure) == expected)
        #expect(verdict(host, .data, [.secFetchSite: "same-origin"], id: id, isSecure: isSecure) == "open")
        #expect(verdict(host, .data, [.secFetchSite: "same-site"], id: id, isSecure: isSecure) == "foreignPage")
        #expect(verdict(host, .data, [.origin: "http://other"], id: id, isSecure: isSecure) == "foreignPage")
        #expect(verdict(host, .page, id: id, isSecure: isSecure) == "open")
        #expect(verdict(host, .page, isSecure: isSecure) == "locked")
    }

    @Test("consoles on two ports of a host keep their logins apart")
    func ports() {
        let id = sessions.begin(isOpen: true, at: manual.now, .random).id
        let fields: HTTPFields = [.cookie: "scribe_console_8087=\(id)"]
        #expect(verdict("127.0.0.1:8087", .page, fields) == "open")
        #expect(verdict("127.0.0.1:8088", .page, fields) == "locked")
    }
}
