import Engines
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ServerTestSupport
import Testing

@testable import ScribeHTTP

struct TrustedProxiesTests {
    private let proxies = TrustedProxies(["10.0.0.0/8", "2001:db8:1::/48"].compactMap(IPRange.init))

    private func client(peer: String, _ passedOn: String...) throws -> String {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: peer, port: 1)).wait()
        let context = ScribeContext(source: .init(channel: channel, logger: Logger(label: "test")))
        var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")
        for text in passedOn { head.headerFields.append(HTTPField(name: .forwardedFor, value: text)) }
        return proxies.client(of: Request(head: head, body: .init(buffer: ByteBuffer())), context)
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
