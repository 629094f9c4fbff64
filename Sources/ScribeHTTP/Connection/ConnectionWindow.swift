import NIOHTTP2

/// How much a connection of HTTP/2 may send that nobody has read yet, whatever its streams: its window is renewed as streams
/// are read, where NIO would renew it as frames arrive.
///
/// The first window is small, and a client that leaves Nagle's algorithm on stops for a delayed acknowledgement, 40 ms,
/// whenever one is used up.
final class ConnectionWindow {
    /// In bytes; a stream's is a quarter of it.
    static let size = 1 << 20
    static let streamSize = size / 4

    /// With which every connection begins (RFC 9113, 6.9.2).
    private static let first = 65_535
    /// The least that is worth a frame when the other end can hardly go on.
    private static let least = 16 * 1024

    /// What the other end may still send.
    private var remaining = first
    /// What came of each stream and was not read.
    private var unread: [HTTP2StreamID: Int] = [:]
    private var total = 0

    /// A frame of data has arrived; its padding counts.
    func received(_ count: Int, on stream: HTTP2StreamID) {
        remaining -= count
        unread[stream, default: 0] += count
        total += count
    }

    /// As much of a stream was read.
    func took(_ count: Int, of stream: HTTP2StreamID) {
        guard let waiting = unread[stream] else { return }
        unread[stream] = max(0, waiting - count)
        total -= min(waiting, count)
    }

    /// Nobody will read what came of a stream.
    func end(_ stream: HTTP2StreamID) { total -= unread.removeValue(forKey: stream) ?? 0 }

    /// Frames may come of a stream that is no more, or never was one: nobody will read these either.
    func endAll(but open: Set<HTTP2StreamID>) {
        for stream in unread.keys where !open.contains(stream) { end(stream) }
    }

    /// How much more the other end could be allowed to send; nil while that is not worth a frame.
    var shortage: Int? {
        let missing = Self.size - total - remaining
        let isWorthIt = missing >= Self.size / 2 || (remaining < Self.first && missing >= Self.least)
        return isWorthIt ? missing : nil
    }

    /// The other end was told that it may send so much more.
    func renew(by count: Int) { remaining += count }
}
