/// Duration of FLAC files: the first block, STREAMINFO, holds sample rate and sample count.
enum FLACAudio {
    static func duration(of bytes: AudioBytes) -> Double? {
        // Layout: 4 bytes magic, 4 bytes block header, 10 bytes of sizes; then 20 bits
        // rate, 3 channels, 5 depth, 36 samples.
        guard let block = bytes.byte(at: 4), block & 0x7F == 0, let fields = bytes.unsigned(at: 18, size: 8) else {
            return nil
        }
        let rate = fields >> 44
        let samples = fields & 0xF_FFFF_FFFF
        guard rate > 0, samples > 0 else { return nil }
        return Double(samples) / Double(rate)
    }
}
