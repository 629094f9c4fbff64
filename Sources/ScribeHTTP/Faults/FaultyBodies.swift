import Basics
import HTTPTypes
import Hummingbird
import NIOCore

extension ResponseBody {
    /// The body, cut after half of its bytes. The connection ends there.
    func half() -> ResponseBody {
        ResponseBody(contentLength: contentLength) { [self] writer in
            try await write(HalfWriter(writer: writer, left: (contentLength ?? 2) / 2))
        }
    }

    /// The body at so many bytes a second.
    func slow(_ bytesPerSecond: Int, _ clock: WallClock) -> ResponseBody {
        ResponseBody(contentLength: contentLength) { [self] writer in
            try await write(SlowWriter(writer: writer, rate: bytesPerSecond, clock: clock))
        }
    }
}

/// Error that ends a connection in the middle of an answer, on purpose.
struct CutConnection: Error {}

/// Passes the first bytes of a body, then ends the connection.
private struct HalfWriter: ResponseBodyWriter {
    var writer: any ResponseBodyWriter
    var left: Int

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        let first = buffer.getSlice(at: buffer.readerIndex, length: min(left, buffer.readableBytes)) ?? ByteBuffer()
        left -= first.readableBytes
        if first.readableBytes > 0 { try await writer.write(first) }
        if left == 0 { throw CutConnection() }
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws { throw CutConnection() }
}

/// Passes a body in small pieces, with pauses between.
private struct SlowWriter: ResponseBodyWriter {
    var writer: any ResponseBodyWriter
    let rate: Int
    let clock: WallClock

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        // Ten pieces a second, or one byte at a time.
        let size = max(1, rate / 10)
        var rest = buffer
        while rest.readableBytes > 0, let piece = rest.readSlice(length: min(size, rest.readableBytes)) {
            try await clock.sleep(for: .seconds(Double(piece.readableBytes) / Double(rate)), as: .fault)
            try await writer.write(piece)
        }
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await writer.finish(trailingHeaders)
    }
}
