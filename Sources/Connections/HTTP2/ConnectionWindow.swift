import NIOHTTP2

/// Flow-control window of an HTTP/2 connection: limits unread bytes over all of its streams.
///
/// The window is renewed when streams are read; NIO would renew it when frames arrive. The initial window is small. A
/// client with Nagle's algorithm pauses 40 ms, for a delayed acknowledgement, whenever a window is used up.
final class ConnectionWindow {
    /// Target window of a connection in bytes; a stream's is a quarter.
    static let size = 1 << 20
    static let streamSize = size / 4

    /// Initial window of every connection, in bytes (RFC 9113, 6.9.2).
    private static let first = 65_535
    /// Least renewal worth a frame while the window is nearly used up, in bytes.
    private static let least = 16 * 1024

    /// Bytes that the client may still send.
    private var remaining = first
    /// Received and unread bytes of each stream.
    private var unread: [HTTP2StreamID: Int] = [:]
    private var total = 0

    /// Counts a received DATA frame, with its padding.
    func received(_ count: Int, on stream: HTTP2StreamID) {
        remaining -= count
        unread[stream, default: 0] += count
        total += count
    }

    /// Counts bytes that a stream's handler has read.
    func took(_ count: Int, of stream: HTTP2StreamID) {
        guard let waiting = unread[stream] else { return }
        unread[stream] = max(0, waiting - count)
        total -= min(waiting, count)
    }

    /// Forgets the unread bytes of a closed stream.
    func end(_ stream: HTTP2StreamID) { total -= unread.removeValue(forKey: stream) ?? 0 }

    /// Forgets unread bytes of streams that are not open: frames may arrive for closed or unknown streams.
    func endAll(but open: Set<HTTP2StreamID>) {
        for stream in unread.keys where !open.contains(stream) { end(stream) }
    }

    /// Bytes by which the window could be renewed; nil while too few for a frame.
    var renewal: Int? {
        let missing = Self.size - total - remaining
        let isWorthIt = missing >= Self.size / 2 || (remaining < Self.first && missing >= Self.least)
        return isWorthIt ? missing : nil
    }

    /// Records a renewal that was sent to the client.
    func renew(by count: Int) { remaining += count }
}
