/// FLAC: the STREAMINFO block, always the first, holds sample rate and number of samples.
enum FLACAudio {
    static func duration(of bytes: AudioBytes) -> Double? {
        // 4 bytes magic, 4 bytes block header, then 10 bytes of sizes; 20 bits rate, 3 channels, 5 depth, 36 samples.
        guard let block = bytes.byte(at: 4), block & 0x7F == 0, let fields = bytes.unsigned(at: 18, size: 8) else {
            return nil
        }
        let rate = fields >> 44
        let samples = fields & 0xF_FFFF_FFFF
        guard rate > 0, samples > 0 else { return nil }
        return Double(samples) / Double(rate)
    }
}
