/// Duration of RIFF WAVE files: length of the `data` chunk over the bytes per second in the `fmt ` chunk.
enum WaveAudio {
    static func duration(of bytes: AudioBytes) -> Double? {
        var position = 12
        var bytesPerSecond: UInt32?
        while let name = bytes.text(at: position, count: 4), let size = bytes.uint32LittleEndian(at: position + 4) {
            if name == "fmt " {
                bytesPerSecond = bytes.uint32LittleEndian(at: position + 16)
            } else if name == "data" {
                guard let bytesPerSecond, bytesPerSecond > 0 else { return nil }
                // A streaming recorder writes 0 or the largest number as length; then the bytes present count.
                let present = bytes.count - position - 8
                let declared = size == 0 || size == .max ? present : Int(size)
                return Double(min(declared, present)) / Double(bytesPerSecond)
            }
            // Chunks are padded to an even length.
            position += 8 + Int(size) + Int(size & 1)
        }
        return nil
    }
}
