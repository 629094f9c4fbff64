import Foundation

/// Durations of files that consist of named chunks: AIFF, CAF and Wave64. Files that are cut off have the samples that
/// came.
enum ChunkedAudio {
    /// Most chunks before the samples.
    private static let maxChunks = 1000

    /// AIFF and AIFF-C: `COMM` has the number of sample frames, and their rate.
    static func durationOfAIFF(_ bytes: AudioBytes) -> Double? {
        var (frames, rate) = (0.0, 0.0)
        var share: Double?
        let chunks = chunks(of: bytes, from: 12, alignment: 2) { position in
            guard let name = bytes.text(at: position, count: 4), let size = bytes.uint32(at: position + 4) else {
                return nil
            }
            return (name, position + 8, Int(size))
        }
        for (name, content, size) in chunks {
            if name == "COMM", let count = bytes.uint32(at: content + 2) {
                // Apple's ADPCM counts packets of 64 samples.
                let isPackets = bytes.text(at: content + 18, count: 4) == "ima4"
                (frames, rate) = (Double(count) * (isPackets ? 64 : 1), extended(at: content + 8, of: bytes) ?? 0)
            } else if name == "SSND", size > 0 {
                share = min(1, Double(bytes.count - content) / Double(size))
            }
        }
        guard let share, rate > 0 else { return nil }
        return share * frames / rate
    }

    /// CAF: packets of one size, or counted by `pakt`.
    static func durationOfCAF(_ bytes: AudioBytes) -> Double? {
        var (rate, packetSize, packetFrames) = (0.0, 0.0, 0.0)
        var frames: Double?
        var data: (present: Double, share: Double)?
        let chunks = chunks(of: bytes, from: 8, alignment: 1) { position in
            guard let name = bytes.text(at: position, count: 4), let size = bytes.unsigned(at: position + 4, size: 8)
            else { return nil }
            // Recorders that have not ended write −1.
            return (name, position + 12, Int(exactly: size) ?? bytes.count - position - 12)
        }
        for (name, content, size) in chunks {
            switch name {
            case "desc":
                rate = bytes.unsigned(at: content, size: 8).map(Double.init(bitPattern:)) ?? 0
                packetSize = bytes.uint32(at: content + 16).map { Double($0) } ?? 0
                packetFrames = bytes.uint32(at: content + 20).map { Double($0) } ?? 0
            case "pakt": frames = bytes.unsigned(at: content + 8, size: 8).map { Double($0) }
            case "data":
                let present = min(size, bytes.count - content)
                // The first four bytes count edits.
                data = (Double(max(0, present - 4)), Double(present) / Double(max(1, size)))
            default: break
            }
        }
        guard let data, rate > 0 else { return nil }
        if packetSize > 0 { return data.present / packetSize * packetFrames / rate }
        return frames.map { $0 * data.share / rate }
    }

    /// Wave64: RIFF with names of 16 bytes and sizes of eight, which count the names and the sizes.
    static func durationOfWave64(_ bytes: AudioBytes) -> Double? {
        var speed: Double?
        let chunks = chunks(of: bytes, from: 40, alignment: 8) { position in
            guard let name = bytes.text(at: position, count: 4), let size = bytes.uint64LittleEndian(at: position + 16)
            else { return nil }
            return (name, position + 24, max(0, (Int(exactly: size) ?? bytes.count) - 24))
        }
        for (name, content, size) in chunks {
            if name == "fmt " { speed = bytes.uint32LittleEndian(at: content + 8).map { Double($0) } }
            guard name == "data", let speed, speed > 0 else { continue }
            return Double(min(size, bytes.count - content)) / speed
        }
        return nil
    }

    private static func chunks(
        of bytes: AudioBytes, from start: Int, alignment: Int,
        _ header: @escaping (Int) -> (name: String, content: Int, size: Int)?
    ) -> some Sequence<(name: String, content: Int, size: Int)> {
        sequence(state: start) { position in
            guard let chunk = header(position) else { return nil }
            let size = min(chunk.size, bytes.count)
            position = chunk.content + (size + alignment - 1) / alignment * alignment
            return chunk
        }.prefix(maxChunks)
    }

    /// Number of 80 bits, as AIFF has its rate.
    private static func extended(at position: Int, of bytes: AudioBytes) -> Double? {
        guard let exponent = bytes.unsigned(at: position, size: 2), exponent < 0x7FFF,
            let fraction = bytes.unsigned(at: position + 2, size: 8)
        else { return nil }
        return scalbn(Double(fraction), Int(exponent) - 16_383 - 63)
    }
}
