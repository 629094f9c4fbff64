/// Reads the duration of Ogg audio (Opus, Vorbis or Speex) from its first and last page.
enum OggAudio {
    /// Returns the duration in seconds; nil for another codec or a damaged file.
    static func duration(of bytes: AudioBytes) -> Double? {
        guard let segments = bytes.byte(at: 26) else { return nil }
        let packet = 27 + Int(segments)
        let rate: Double
        let skipped: Double
        if bytes.text(at: packet, count: 8) == "OpusHead" {
            guard let preSkip = bytes.uint16LittleEndian(at: packet + 10) else { return nil }
            // Opus counts at 48 kHz, whatever the recording's rate.
            rate = 48_000
            skipped = Double(preSkip)
        } else if bytes.text(at: packet + 1, count: 6) == "vorbis" {
            guard let value = bytes.uint32LittleEndian(at: packet + 12), value > 0 else { return nil }
            rate = Double(value)
            skipped = 0
        } else if bytes.text(at: packet, count: 5) == "Speex" {
            guard let value = bytes.uint32LittleEndian(at: packet + 36), value > 0 else { return nil }
            rate = Double(value)
            skipped = 0
        } else {
            return nil
        }
        // A page without the end of a packet has the largest number as its position.
        var end = bytes.count
        while let page = bytes.lastPosition(of: Array("OggS".utf8), atOrBefore: end) {
            if let position = bytes.uint64LittleEndian(at: page + 6), position != .max {
                return max(0, Double(position) - skipped) / rate
            }
            end = page - 1
        }
        return nil
    }
}
