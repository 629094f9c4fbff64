/// Duration of FLAC files: the first block, STREAMINFO, has the sample rate and the number of samples. A file that was
/// streamed or cut off ends at the last frame that it has.
enum FLACAudio {
    /// Most bytes that are searched for the last frame, from the end.
    private static let longestFrame = 1 << 18

    static func duration(of bytes: AudioBytes) -> Double? {
        // Layout: 4 bytes magic, 4 bytes block header, 10 bytes of sizes; then 20 bits
        // rate, 3 channels, 5 depth, 36 samples.
        guard let block = bytes.byte(at: 4), block & 0x7F == 0, let fields = bytes.unsigned(at: 18, size: 8) else {
            return nil
        }
        let rate = fields >> 44
        let declared = fields & 0xF_FFFF_FFFF
        guard rate > 0 else { return nil }
        let found = lastSample(of: bytes, blockSize: bytes.unsigned(at: 8, size: 2) ?? 0)
        guard let samples = declared == 0 ? found : min(declared, found ?? declared) else { return nil }
        return Double(samples) / Double(rate)
    }

    /// Number of samples up to the end of the last frame; nil if none is found.
    private static func lastSample(of bytes: AudioBytes, blockSize: UInt64) -> UInt64? {
        for position in stride(from: bytes.count - 6, through: max(42, bytes.count - longestFrame), by: -1)
        where bytes.byte(at: position) == 0xFF {
            if let end = frameEnd(at: position, of: bytes, blockSize: blockSize) { return end }
        }
        return nil
    }

    /// Number of samples up to the end of a frame; nil for bytes that are no frame's header.
    /// - Parameter blockSize: samples of each frame but the last, where frames are numbered.
    static func frameEnd(at start: Int, of bytes: AudioBytes, blockSize: UInt64) -> UInt64? {
        guard let header = bytes.uint32(at: start), header >> 17 == 0b111_1111_1111_1100, header & 1 == 0 else {
            return nil
        }
        let isNumberedBySample = header >> 16 & 1 == 1
        let (sizeCode, rateCode) = (Int(header >> 12 & 15), Int(header >> 8 & 15))
        guard sizeCode != 0, rateCode != 15 else { return nil }
        var position = start + 4
        // The number has the form of a UTF-8 character, of up to seven bytes.
        guard let lead = bytes.byte(at: position) else { return nil }
        let length = lead < 0x80 ? 1 : (~lead).leadingZeroBitCount
        guard length != 0, lead < 0x80 || (2...7).contains(length) else { return nil }
        var number = UInt64(lead < 0x80 ? lead : lead & UInt8(truncatingIfNeeded: 0x7F >> length))
        for offset in 1..<max(1, length) {
            guard let next = bytes.byte(at: position + offset), next & 0xC0 == 0x80 else { return nil }
            number = number << 6 | UInt64(next & 0x3F)
        }
        position += length
        let samples: UInt64
        switch sizeCode {
        case 1: samples = 192
        case 2...5: samples = 576 << UInt64(sizeCode - 2)
        case 6, 7:
            guard let value = bytes.unsigned(at: position, size: sizeCode - 5) else { return nil }
            samples = value + 1
            position += sizeCode - 5
        default: samples = 256 << UInt64(sizeCode - 8)
        }
        if rateCode >= 12 { position += rateCode == 12 ? 1 : 2 }
        guard let checksum = bytes.byte(at: position), checksum == crc(start..<position, of: bytes) else { return nil }
        return (isNumberedBySample ? number : number * blockSize) + samples
    }

    /// CRC-8 of a frame's header, with the polynomial x⁸ + x² + x + 1.
    private static func crc(_ range: Range<Int>, of bytes: AudioBytes) -> UInt8 {
        range.reduce(0) { crc, position in
            (0..<8).reduce(crc ^ (bytes.byte(at: position) ?? 0)) { crc, _ in crc << 1 ^ (crc & 0x80 != 0 ? 0x07 : 0) }
        }
    }
}
