/// Duration of AAC files without a container (ADTS): a run of frames with headers.
enum ADTSAudio {
    /// Whether two frames begin the bytes, or the only one.
    static func begins(_ bytes: AudioBytes) -> Bool {
        guard let frame = frame(at: 0, of: bytes) else { return false }
        return frame.size == bytes.count || self.frame(at: frame.size, of: bytes) != nil
    }

    static func duration(of bytes: AudioBytes) -> Double? {
        var (seconds, position) = (0.0, 0)
        while let frame = frame(at: position, of: bytes), position + frame.size <= bytes.count {
            seconds += frame.seconds
            position += frame.size
        }
        return seconds
    }

    private static func frame(at position: Int, of bytes: AudioBytes) -> (size: Int, seconds: Double)? {
        guard let header = bytes.unsigned(at: position, size: 7), header >> 44 == 0xFFF, header >> 41 & 3 == 0 else {
            return nil
        }
        let rates = [
            96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
        ]
        let (rate, size) = (Int(header >> 34 & 15), Int(header >> 13 & 0x1FFF))
        guard rate < rates.count, size >= 7 else { return nil }
        return (size, 1024 * Double(header & 3 + 1) / Double(rates[rate]))
    }
}
