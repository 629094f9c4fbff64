import Foundation

/// Cuts a FLAC stream between two frames.
///
/// ffmpeg holds back some ten frames, and decodes them only at the end of its input. Where all audio is wanted, its
/// input ends, and another process decodes the rest of the stream, from the next frame on.
struct FLACStream: Sendable {
    /// Signature and STREAMINFO, as the only block of metadata.
    private var header = Data()
    /// Bytes since the beginning of the last frame.
    private var pending = Data()
    /// Whether ``pending`` begins with a frame.
    private var hasFrame = false
    /// Position in ``pending`` before which no other frame begins.
    private var searched = 0
    /// CRC-16 of the bytes before ``searched``; 0 at the end of a frame.
    private var crc: UInt16 = 0
    /// Whether a frame has begun since the last cut.
    private var hasNews = false

    private static let headerSize = 42
    private static let longestFrameHeader = 16
    private static let longestFrame = 1 << 20

    /// Whether the stream is FLAC from its first byte on, without tags before it.
    var isPlain: Bool { header.starts(with: "fLaC".utf8) }
    /// Whether a cut makes more audio audible.
    var canCut: Bool { isPlain && hasNews }

    /// Appends bytes of the stream, cut anywhere.
    mutating func add(_ bytes: Data) {
        pending.append(bytes)
        if header.isEmpty {
            guard pending.count >= Self.headerSize else { return }
            header = Data(pending.prefix(Self.headerSize))
            header[4] |= 0x80
            pending = Data(pending.dropFirst(Self.headerSize))
        }
        var start = 0
        let audio = AudioBytes(pending)
        while searched + Self.longestFrameHeader <= pending.count {
            if pending[searched] == 0xFF, !hasFrame || crc == 0 && searched > start,
                FLACAudio.frameEnd(at: searched, of: audio, blockSize: 0) != nil
            {
                start = searched
                (hasFrame, hasNews, crc) = (true, true, 0)
            }
            crc = Self.crc(crc, pending[searched])
            searched += 1
            if searched - start > Self.longestFrame { hasFrame = false }
            if !hasFrame { start = searched }
        }
        drop(start)
    }

    /// Cuts the stream behind its last whole frame.
    /// - Returns: Bytes with which the rest of the stream begins.
    mutating func cut() -> Data {
        hasNews = false
        var (crc, end) = (crc, 0)
        for position in searched..<pending.count {
            if crc == 0, pending[position] == 0xFF { end = position }
            crc = Self.crc(crc, pending[position])
        }
        if crc == 0 { end = pending.count }
        if hasFrame, end > 0 {
            drop(end)
            self.crc = 0
        }
        return header + pending
    }

    private mutating func drop(_ count: Int) {
        guard count > 0 else { return }
        pending = Data(pending.dropFirst(count))
        searched = max(0, searched - count)
    }

    private static func crc(_ crc: UInt16, _ byte: UInt8) -> UInt16 {
        (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in crc << 1 ^ (crc & 0x8000 != 0 ? 0x8005 : 0) }
    }
}
