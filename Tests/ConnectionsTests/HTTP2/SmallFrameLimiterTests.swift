import NIOCore
import NIOEmbedded
import ServerTestSupport
import Testing

@testable import Connections

struct FrameWatchTests {
    private let watch = SmallFrameLimiter()
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel(handler: watch)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    }

    /// - Returns: whether the connection goes on.
    private func send(_ kind: UInt8, stream: UInt32 = 0, count: Int = 1) throws -> Bool {
        for _ in 0..<count where channel.isActive {
            var frame = ByteBuffer(bytes: [0, 0, 4, kind, 0])
            frame.writeInteger(stream)
            frame.writeInteger(UInt32(1))
            try channel.writeInbound(frame)
            // The channel keeps what no one reads, and copies it each time.
            _ = try channel.readInbound(as: ByteBuffer.self)
        }
        return channel.isActive
    }

    @Test(
        "more than two hundred needless frames of one kind within half a minute are refused",
        arguments: [(UInt8(8), UInt32(0)), (8, 5), (7, 0), (0x0A, 0), (0x42, 3), (0xFF, 0)])
    func floods(kind: UInt8, stream: UInt32) throws {
        #expect(try send(kind, stream: stream, count: 200))
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(try !send(kind, stream: stream), "a moment later it is one too many")
    }

    @Test("two hundred needless frames in each half minute are accepted")
    func spread() throws {
        for _ in 0..<10 {
            #expect(try send(8, count: 200) && send(7, count: 200) && send(0x0B, count: 200))
            channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        }
    }

    @Test(
        "a client may send a window update for each kilobyte that it receives, however late"
    )
    func downloads() throws {
        for _ in 0..<1000 { watch.sentData(16_384) }
        channel.embeddedEventLoop.advanceTime(by: .minutes(10))
        #expect(try send(8, stream: 1, count: 17_000) && send(8, count: 17_000))
        #expect(try send(8, stream: 1, count: 200))
        #expect(try !send(8, stream: 3))
    }

    @Test("frames that belong to requests do not count as needless frames")
    func requests() throws {
        for kind in [UInt8(2), 3, 4, 6, 9] { #expect(try send(kind, stream: 1, count: 1000), "\(kind)") }
    }
}
