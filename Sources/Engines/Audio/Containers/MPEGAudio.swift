/// Duration of MP3 files: a run of frames with headers; variable-rate files give the frame count in the first frame.
enum MPEGAudio {
    struct Frame {
        let position: Int
        let size: Int
        let samples: Int
        let rate: Int
        let isVersion1: Bool
        let isMono: Bool
    }

    static func duration(of bytes: AudioBytes) -> Double? {
        guard let first = firstFrame(of: bytes) else { return nil }
        if let frames = declaredFrames(in: first, of: bytes), frames > 0 {
            return Double(frames) * Double(first.samples) / Double(first.rate)
        }
        var samples = 0
        var position = first.position
        while let frame = frame(at: position, of: bytes) {
            samples += frame.samples
            position += frame.size
        }
        return Double(samples) / Double(first.rate)
    }

    /// Finds the first frame, after an ID3 tag if there is one. A second frame must follow, because eleven set bits
    /// alone prove little. Only zeros may stand before the frame, otherwise the file could have another format.
    static func firstFrame(of bytes: AudioBytes) -> Frame? {
        let position = endOfTags(of: bytes)
        // Encoders may leave padding after the tag.
        let start = (position..<position + 2048).first { bytes.byte(at: $0) != 0 }
        guard let start, let frame = frame(at: start, of: bytes) else { return nil }
        let next = start + frame.size
        return next == bytes.count || self.frame(at: next, of: bytes) != nil ? frame : nil
    }

    /// End of the ID3 tags at the beginning.
    static func endOfTags(of bytes: AudioBytes) -> Int {
        var position = 0
        while bytes.text(at: position, count: 3) == "ID3", let size = bytes.unsigned(at: position + 6, size: 4) {
            // ID3 sizes have four bytes of seven bits each.
            let length = (size & 0x7F) | (size & 0x7F00) >> 1 | (size & 0x7F_0000) >> 2 | (size & 0x7F00_0000) >> 3
            let hasFooter = (bytes.byte(at: position + 5) ?? 0) & 0x10 != 0
            position += 10 + Int(length) + (hasFooter ? 10 : 0)
        }
        return position
    }

    private static func frame(at position: Int, of bytes: AudioBytes) -> Frame? {
        guard let header = bytes.uint32(at: position), header >> 21 == 0x7FF else { return nil }
        let version = Int(header >> 19 & 3)
        let layer = Int(header >> 17 & 3)
        let bitRateIndex = Int(header >> 12 & 15)
        let rateIndex = Int(header >> 10 & 3)
        guard version != 1, layer == 1, bitRateIndex != 0, bitRateIndex != 15, rateIndex != 3 else { return nil }
        let isVersion1 = version == 3
        let kilobits =
            isVersion1
            ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][bitRateIndex - 1]
            : [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160][bitRateIndex - 1]
        let rate = [44_100, 48_000, 32_000][rateIndex] / (isVersion1 ? 1 : version == 2 ? 2 : 4)
        let samples = isVersion1 ? 1152 : 576
        let size = samples / 8 * kilobits * 1000 / rate + Int(header >> 9 & 1)
        return Frame(
            position: position, size: size, samples: samples, rate: rate, isVersion1: isVersion1,
            isMono: header >> 6 & 3 == 3
        )
    }

    private static func declaredFrames(in frame: Frame, of bytes: AudioBytes) -> UInt32? {
        let sideInformation = frame.isVersion1 ? (frame.isMono ? 17 : 32) : (frame.isMono ? 9 : 17)
        let tag = frame.position + 4 + sideInformation
        if let name = bytes.text(at: tag, count: 4), name == "Xing" || name == "Info",
            let flags = bytes.uint32(at: tag + 4), flags & 1 == 1
        {
            return bytes.uint32(at: tag + 8)
        }
        if bytes.text(at: frame.position + 36, count: 4) == "VBRI" { return bytes.uint32(at: frame.position + 50) }
        return nil
    }
}
