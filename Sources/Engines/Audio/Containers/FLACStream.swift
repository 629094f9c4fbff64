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

    private static let headerSize = 42
    private static let longestFrameHeader = 16
    private static let longestFrame = 1 << 20

    /// Appends bytes of the stream, cut anywhere.
    mutating func add(_ bytes: Data) {
        pending.append(bytes)
        if header.isEmpty {
            guard pending.count >= Self.headerSize else { return }
            header = Data(pending.prefix(Self.headerSize))
            header[4] |= 0x80
            drop(Self.headerSize)
        }
        var start = 0
        let audio = AudioBytes(pending)
        while searched + Self.longestFrameHeader <= pending.count {
            if pending[searched] == 0xFF, FLACAudio.frameEnd(at: searched, of: audio, blockSize: 0) != nil,
                !hasFrame || wholeEnd(from: start, to: searched) == searched
            {
                start = searched
                hasFrame = true
            }
            searched += 1
        }
        if !hasFrame || searched - start > Self.longestFrame {
            hasFrame = false
            start = searched
        }
        drop(start)
    }

    /// Cuts the stream behind its last whole frame.
    /// - Returns: Bytes with which the rest of the stream begins.
    mutating func cut() -> Data {
        if hasFrame, let end = wholeEnd(from: 0, to: pending.count) { drop(end) }
        return header + pending
    }

    private mutating func drop(_ count: Int) {
        pending = Data(pending.dropFirst(count))
        searched = max(0, searched - count)
    }

    /// End of the frame at `start`, if it lies less than a header before `end`: there its CRC-16 is 0.
    private func wholeEnd(from start: Int, to end: Int) -> Int? {
        var crc: UInt16 = 0
        var found: Int?
        for position in start..<end {
            crc ^= UInt16(pending[position]) << 8
            for _ in 0..<8 { crc = crc << 1 ^ (crc & 0x8000 != 0 ? 0x8005 : 0) }
            let next = position + 1
            if crc == 0, end - next < Self.longestFrameHeader, next == end || pending[next] == 0xFF { found = next }
        }
        return found
    }
}
