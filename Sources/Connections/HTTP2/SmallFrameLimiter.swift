import NIOCore
import NIOHTTP2

/// Limits HTTP/2 frames that NIO does not limit, before NIO reads them.
///
/// Each DATA frame keeps its read buffer until a handler takes the frame. A stream may hold as many frames as its
/// window has bytes. So reads are copied into buffers of their own size, and a client that sends thousands of tiny
/// frames is disconnected.
///
/// A WINDOW_UPDATE wakes streams, and costs its sender nothing. A client needs one for each DATA frame, and more if
/// the client reads in small pieces. Go's, reading 512 bytes at a time, sends one for each 4.6 KB on the stream.
/// HAProxy's sends some for each frame, on stream and connection. Updates beyond one for each KB are counted. Other
/// rarely needed frames are counted too.
final class SmallFrameLimiter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        /// The last type in RFC 9113. Unknown types are ignored, but counted.
        static let last: UInt8 = 9
        static let endOfStream: UInt8 = 1
    }

    private static let prefaceLength = 24
    private static let headerLength = 9
    /// A DATA frame with fewer bytes is tiny.
    private static let tiny = 256
    /// Leaky bucket for tiny DATA frames: at most 1,000; −50 each second, −4 for each HEADERS frame.
    private static let most = 1000
    private static let paidBySecond = 50
    private static let paidByRequest = 4

    private let window: ConnectionWindow

    /// - Parameter window: Receives the size of each DATA frame.
    init(window: ConnectionWindow = ConnectionWindow()) { self.window = window }

    /// Bytes left of the preface or of the present frame.
    private var toSkip = prefaceLength
    private var header: [UInt8] = []
    private var tinyFrames = 0
    private var lastPayment: NIODeadline?
    /// WINDOW_UPDATE frames that the sent data explains, on streams and on the connection.
    private var expected = (streams: 0, connection: 0)
    /// Needless frames of each kind in the present 30 s.
    private var idle = (updates: 0, goodbyes: 0, unknown: 0)
    private var idleSince: NIODeadline?

    /// Most needless frames of one kind in 30 s.
    private static let maxIdle = 200
    private static let idleWindow: TimeAmount = .seconds(30)
    private static let bytesOfUpdate = 1024

    /// Counts a sent DATA frame, in bytes.
    func sentData(_ count: Int) {
        let updates = 1 + count / Self.bytesOfUpdate
        expected.streams += updates
        expected.connection += updates
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard isTolerable(bytes, at: context.eventLoop.now) else { return context.close(promise: nil) }
        context.fireChannelRead(wrapInboundOut(bytes.compacted))
    }

    private func isTolerable(_ bytes: ByteBuffer, at now: NIODeadline) -> Bool {
        var rest = bytes.readableBytesView
        while !rest.isEmpty {
            if toSkip > 0 {
                let skipped = min(toSkip, rest.count)
                toSkip -= skipped
                rest = rest.dropFirst(skipped)
                continue
            }
            header.append(rest.removeFirst())
            guard header.count == Self.headerLength else { continue }
            toSkip = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            guard isNeeded(at: now) else { return false }
            if header[3] == Kind.data { window.received(toSkip, on: stream) }
            if header[3] == Kind.headers { tinyFrames = max(0, tinyFrames - Self.paidByRequest) }
            if header[3] == Kind.data, toSkip < Self.tiny, header[4] & Kind.endOfStream == 0 {
                let seconds = lastPayment.map { (now - $0).nanoseconds / 1_000_000_000 } ?? 0
                if seconds > 0 || lastPayment == nil { lastPayment = now }
                tinyFrames = max(0, tinyFrames - Int(min(seconds, 1000)) * Self.paidBySecond) + 1
                if tinyFrames > Self.most { return false }
            }
            header.removeAll(keepingCapacity: true)
        }
        return true
    }

    private var stream: HTTP2StreamID {
        HTTP2StreamID(Int(header[5] & 0x7F) << 24 | Int(header[6]) << 16 | Int(header[7]) << 8 | Int(header[8]))
    }

    /// Whether the frame of the present header is within the limit of its kind.
    private func isNeeded(at now: NIODeadline) -> Bool {
        if idleSince.map({ now - $0 >= Self.idleWindow }) ?? true { (idle, idleSince) = ((0, 0, 0), now) }
        switch header[3] {
        case Kind.windowUpdate:
            let place =
                stream == .rootStream ? \SmallFrameLimiter.expected.connection : \SmallFrameLimiter.expected.streams
            if self[keyPath: place] > 0 { self[keyPath: place] -= 1 } else { idle.updates += 1 }
        case Kind.goAway: idle.goodbyes += 1
        case (Kind.last + 1)...: idle.unknown += 1
        default: break
        }
        return max(idle.updates, idle.goodbyes, idle.unknown) <= Self.maxIdle
    }
}
