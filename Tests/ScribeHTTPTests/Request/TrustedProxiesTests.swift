import Engines
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Outbound
import ServerTestSupport
import Testing

@testable import ScribeHTTP

struct TrustedProxiesTests {
    private let proxies = TrustedProxies(["10.0.0.0/8", "2001:db8:1::/48"].compactMap(IPRange.init))

    private func client(peer: String, _ passedOn: String...) throws -> String {
        let (request, context) = try request(peer: peer, passedOn.map { (.forwardedFor, $0) })
        return proxies.client(of: request, context)
    }

    private func request(
        peer: String, _ fields: [(HTTPField.Name, String)]
    ) throws -> (request: Request, context: ScribeContext) {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: peer, port: 1)).wait()
        let context = ScribeContext(source: .init(channel: channel, logger: Logger(label: "test")))
        var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")
        for (name, value) in fields { head.headerFields.append(HTTPField(name: name, value: value)) }
        return (Request(head: head, body: .init(buffer: ByteBuffer())), context)
    }

    @Test(
        "links follow the last trusted proxy on the way to the client, in lists too",
        arguments: [
            ("10.1.2.3", [], ["https"], ["a.example"], "https://a.example"),
            ("10.1.2.3", [], ["http, https"], ["evil.example, a.example"], "https://a.example"),
            ("10.1.2.3", [], ["http", "https"], ["evil.example", "a.example"], "https://a.example"),
            ("10.1.2.3", ["203.0.113.9"], ["http,HTTPS "], ["evil.example,a.example:8443"], "https://a.example:8443"),
            ("10.1.2.3", ["203.0.113.9, 10.9.9.9"], ["https, http"], ["a.example, inner"], "https://a.example"),
            (
                "10.1.2.3", ["203.0.113.9, 10.9.9.9"], ["http, https, http"], ["e.example, a.example, i"],
                "https://a.example"
            ),
            ("10.1.2.3", ["203.0.113.9, 10.9.9.9"], ["https"], ["a.example"], "https://a.example"),
            ("10.1.2.3", [], [], [], "http://localhost"),
            ("10.1.2.3", [], [""], ["a.example, b/c"], "http://localhost"),
            ("198.51.100.7", [], ["https"], ["evil.example"], "http://localhost"),
        ] as [(String, [String], [String], [String], String)])
    func links(peer: String, addresses: [String], schemes: [String], hosts: [String], base: String) throws {
        let (request, context) = try request(
            peer: peer,
            addresses.map { (.forwardedFor, $0) } + schemes.map { (.forwardedProto, $0) }
                + hosts.map { (.forwardedHost, $0) })
        #expect(LinkOrigin(publicURL: nil, proxies: proxies).base(of: request, context) == base)
    }

    @Test("a peer that is no trusted proxy is the client, whatever its forwarding header says")
    func peer() throws {
        #expect(try client(peer: "198.51.100.7", "203.0.113.9") == "198.51.100.7")
        #expect(try client(peer: "10.1.2.3") == "10.1.2.3")
    }

    @Test("behind trusted proxies the client is the last forwarded address that is no trusted proxy")
    func passedOn() throws {
        #expect(try client(peer: "10.1.2.3", "203.0.113.9") == "203.0.113.9")
        #expect(
            try client(peer: "10.1.2.3", "1.1.1.1, 203.0.113.9 ,10.9.9.9") == "203.0.113.9", "the first is its own word"
        )
        #expect(
            try client(peer: "10.1.2.3", "1.1.1.1", "203.0.113.9:4711") == "203.0.113.9", "with a port, in two fields")
        #expect(
            try client(peer: "10.1.2.3", "203.0.113.9, unknown") == "10.1.2.3", "nothing before nonsense is believed")
        #expect(try client(peer: "10.1.2.3", "10.4.4.4") == "10.1.2.3")
    }

    @Test("an IPv6 client counts by its 64-bit network, an IPv4-mapped one by its IPv4 address")
    func networks() throws {
        let one = try client(peer: "2001:db8:2:3::1")
        #expect(try client(peer: "2001:db8:2:3:ffff::9") == one)
        #expect(try client(peer: "2001:db8:2:4::1") != one)
        #expect(try client(peer: "2001:db8:1::5", "2001:db8:2:3:1::") == one)
        #expect(try client(peer: "::ffff:203.0.113.9") == "203.0.113.9")
        #expect(try client(peer: "10.1.2.3", "[2001:db8:2:3::7]:443") == one)
    }
}
