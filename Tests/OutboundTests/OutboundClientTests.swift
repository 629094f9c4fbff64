import Basics
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Outbound

struct OutboundClientTests {
    /// Answers every request with 200, and counts them.
    private final class Receiver: Sendable {
        let requests = LockedValue(0)
        let channel: any Channel

        init() async throws {
            let requests = requests
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(Answering(requests: requests))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }

        var port: Int { channel.localAddress?.port ?? 0 }

        private final class Answering: ChannelInboundHandler, Sendable {
            typealias InboundIn = HTTPServerRequestPart
            typealias OutboundOut = HTTPServerResponsePart

            let requests: LockedValue<Int>

            init(requests: LockedValue<Int>) { self.requests = requests }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                guard case .end = unwrapInboundIn(data) else { return }
                requests.withLock { $0 += 1 }
                let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }

    private func client(_ addresses: [String]) -> (OutboundClient, LockedValue<Int>) {
        let asked = LockedValue(0)
        // The first answer, then the second, and the last for ever.
        let client = OutboundClient(
            rules: OutboundRules(
                allowing: ["127.0.0.1"].compactMap(OutboundRules.Exception.init), allowsLoopback: false),
            clock: ManualClock().clock
        ) { _, _ in
            let index = asked.withLock { count in
                defer { count += 1 }
                return min(count, addresses.count - 1)
            }
            return [addresses[index]].compactMap { IPAddress($0) }
        }
        return (client, asked)
    }

    @Test("the outbound client connects to the address that it has checked, without a second look-up")
    func pinned() async throws {
        let receiver = try await Receiver()
        // What a second look-up would find is where nobody listens.
        let (client, asked) = client(["127.0.0.1", "127.0.0.2"])
        let address = try OutboundURL("http://receiver.test:\(receiver.port)/")
        try await client.send(
            ByteBuffer(string: "{}"), [], method: "POST", to: address, within: timeOfATest,
            for: .init("b"))
        #expect(asked.withLock { $0 } == 1)
        #expect(receiver.requests.withLock { $0 } == 1)
    }

    @Test("the outbound client checks a host name on each request, and refuses one that became forbidden")
    func rebound() async throws {
        let receiver = try await Receiver()
        let (client, _) = client(["127.0.0.1", "169.254.169.254"])
        let address = try OutboundURL("http://receiver.test:\(receiver.port)/")
        try await client.check(address, within: timeOfATest, for: .init("b"))
        await #expect(throws: OutboundError.forbidden) {
            try await client.send(
                ByteBuffer(string: "{}"), [], method: "POST", to: address, within: timeOfATest,
                for: .init("b"))
        }
        #expect(receiver.requests.withLock { $0 } == 0)
    }

    @Test(
        "outbound URLs with ports of other services are refused",
        arguments: [22, 25, 53, 445, 3306, 5432, 6379, 6667, 9200, 11_211, 27_017])
    func ports(port: Int) {
        #expect(throws: OutboundError.self) { try OutboundURL("http://example.com:\(port)/") }
    }
}
