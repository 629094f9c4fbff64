import Foundation
import NIOCore
import NIOPosix
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

struct ListeningPortTests {
    private func listening(_ host: String, port: Int = 0) throws -> TestServer {
        var server = try TestServer()
        (server.configuration.host, server.configuration.port) = (host, port)
        return server
    }

    private func connect(to address: String, _ port: Int) async throws {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: address, port: port).get()
        try await channel.close()
    }

    @Test("localhost is one port of 127.0.0.1 and of ::1, and a server answers on both", arguments: [false, true])
    func localhost(isEncrypted: Bool) async throws {
        var server = try listening("localhost")
        server.configuration.tls.isOn = isEncrypted
        server.configuration.tls.port = 0
        server.configuration.tls.folder = "\(server.folder.path)/tls"
        let taken = try await server.configuration.takingPorts()
        #expect(taken.configuration.addresses?.first == "127.0.0.1")
        #expect(
            (taken.configuration.addresses?.contains("::1") ?? false) == ((try? BoundSocket("::1", port: 0)) != nil))
        let ports = isEncrypted ? [taken.configuration.port, taken.configuration.tls.port] : [taken.configuration.port]
        #expect(!ports.contains(0) && Set(ports).count == ports.count)
        server.configuration = taken.configuration
        try await server.run(.socket) { client in
            #expect(try await client.get("/livez").status == 200)
            for address in taken.configuration.addresses ?? [] {
                try await connect(to: address, taken.configuration.port)
            }
        }
    }

    @Test("a port that is in use on one address of a name is in use", arguments: ["127.0.0.1", "::1"])
    func inUse(address: String) async throws {
        guard (try? BoundSocket(address, port: 0)) != nil else { return }
        let other = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: address, port: 0).get()
        let port = try #require(other.localAddress?.port)
        await #expect {
            _ = try await listening("localhost", port: port).configuration.takingPorts()
        } throws: {
            "\($0)" == "port \(port) is in use; choose another with --port, or --port 0"
        }
        try await other.close()
    }

    @Test("an address of another machine and an unknown name are explained")
    func elsewhere() async throws {
        for (host, answer) in [
            ("203.0.113.9", "203.0.113.9 is not an address of this machine; choose one with --host"),
            ("nowhere.invalid", "the address 'nowhere.invalid' is not known; choose one of this machine with --host"),
        ] {
            await #expect {
                _ = try await listening(host).configuration.takingPorts()
            } throws: {
                "\($0)".hasPrefix(answer)
            }
        }
    }

    @Test(
        "only addresses of loopback count as such, and names that look like them do not",
        arguments: [
            ("localhost", true), ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true),
            ("127.0.0.1.nip.io", false), ("127.example", false), ("0.0.0.0", false), ("::", false),
        ])
    func loopback(host: String, isLoopback: Bool) throws {
        #expect(try listening(host).configuration.isLoopback == isLoopback)
    }
}
