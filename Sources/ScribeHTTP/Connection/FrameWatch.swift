import NIOCore

/// Looks at frames of HTTP/2 before NIO does, for what NIO has no limit for.
///
/// Each frame of data keeps the buffer that it was read in as long as nobody takes it, and a stream may hold as many frames
/// as its window has bytes. So what is read gets a buffer of its own size, and a client that sends data by the byte,
/// thousands of times, is none.
final class FrameWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let endOfStream: UInt8 = 1
    }

    private static let prefaceLength = 24
    private static let headerLength = 9
    /// A frame of data with less, in bytes, is tiny.
    private static let tiny = 256
    /// How many tiny frames may be open in the books. Each second and each request takes some out.
    private static let most = 1000
    private static let paidBySecond = 50
    private static let paidByRequest = 4

    /// What is left of the frame, or the preface, that is being read.
    private var toSkip = prefaceLength
    private var header: [UInt8] = []
    private var tinyFrames = 0
    private var lastPayment: NIODeadline?

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
}
