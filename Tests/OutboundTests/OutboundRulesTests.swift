import Testing

@testable import Outbound

struct OutboundRulesTests {
    @Test(
        "outbound requests to public addresses are allowed",
        arguments: ["1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
    func isPublic(address: String) throws {
        #expect(OutboundRules(allowsLoopback: false).allow("host", at: try #require(IPAddress(address))))
    }

    @Test(
        "outbound requests to loopback, private networks and metadata services are refused, in every notation",
        arguments: [
            "127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "100.64.0.1",
            "169.254.169.254", "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1",
            "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::a9fe:a9fe",
            "168.63.129.16", "2002:7f00:1::", "2001::1", "2001:db8::1",
        ])
    func special(address: String) throws {
        #expect(!OutboundRules(allowsLoopback: false).allow("host", at: try #require(IPAddress(address))))
    }

    @Test("the setting for loopback allows outbound requests to loopback addresses only")
    func loopback() throws {
        let rules = OutboundRules(allowsLoopback: true)
        for address in ["127.0.0.1", "127.0.0.53", "::1", "::ffff:127.0.0.1"] {
            #expect(rules.allow("host", at: try #require(IPAddress(address))), "\(address)")
        }
        for address in ["0.0.0.0", "::", "10.0.0.1", "169.254.169.254"] {
            #expect(!rules.allow("host", at: try #require(IPAddress(address))), "\(address)")
        }
    }

    @Test("an exception to the outbound rules is a host name, an address or a range")
    func exceptions() throws {
        let exceptions = ["Receiver", "10.1.0.0/16", "fd00::/8", "192.168.7.7"].compactMap(OutboundRules.Exception.init)
        #expect(exceptions.count == 4)
        let rules = OutboundRules(allowing: exceptions, allowsLoopback: false)
        let allowed = [
            ("receiver", "10.9.9.9"), ("RECEIVER", "fe80::1"), ("x", "10.1.255.1"), ("x", "fd12::1"),
            ("x", "192.168.7.7"),
        ]
        for (host, address) in allowed {
            #expect(rules.allow(host, at: try #require(IPAddress(address))), "\(host) \(address)")
        }
        for (host, address) in [
            ("x", "10.2.0.1"), ("receiver.evil", "10.9.9.9"), ("x", "192.168.7.8"), ("x", "fe80::1"),
        ] {
            #expect(!rules.allow(host, at: try #require(IPAddress(address))), "\(host) \(address)")
        }
        for text in ["", "a b", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "http://x"] {
            #expect(OutboundRules.Exception(text) == nil, "\(text)")
        }
    }
}

struct OutboundAddressTests {
    @Test(
        "an outbound URL has exactly one host and one normal form",
        arguments: [
            ("http://example.com", "example.com", "http://example.com/"),
            ("HTTPS://Example.COM:443/a%20b?c=%2F#d", "example.com", "https://example.com/a%20b?c=%2F"),
            ("http://[::1]:81/x", "::1", "http://[::1]:81/x"),
            ("https://127.0.0.1:8443/", "127.0.0.1", "https://127.0.0.1:8443/"),
        ])
    func readable(text: String, host: String, url: String) throws {
        let address = try OutboundURL(text)
        #expect(address.host == host)
        #expect(address.url == url)
    }

    @Test(
        "an outbound URL that two parsers could read differently is refused",
        arguments: [
            "", "example.com", "ftp://example.com/", "file:///etc/passwd", "http://", "http:///x",
            "http://a@example.com/",
            "http://a:b@example.com/", "http://exa mple.com/", "http://example.com\\@evil/", "http://ex%61mple.com/",
            "http://[::1/", "http://[fe80::1%25eth0]/", "http://example.com:0/", "http://example.com:65536/",
            "http://example.com:99999999999999999999/", "http://éxample.com/", "http://a\r\nb/", "http+unix://%2Fvar/",
            "http://" + String(repeating: "a", count: 3000),
        ])
    func unreadable(text: String) {
        #expect(throws: OutboundError.self) { try OutboundURL(text) }
    }

    @Test("an outbound host name leads to the addresses that the system knows")
    func names() async throws {
        let found = try await HostResolver().lookUp("localhost")
        #expect(found.contains { $0.description == "127.0.0.1" })
        let nothing = try await HostResolver().lookUp("no-such-host.invalid")
        #expect(nothing.isEmpty)
        // What only the resolver takes for an address is checked like a name's.
        let hidden = try await HostResolver().lookUp("2130706433")
        #expect(hidden.map(\.description) == ["127.0.0.1"])
    }
}
