/// Reads the duration of Ogg audio (Opus, Vorbis, Speex or FLAC) from its pages.
///
/// Streams may follow one another, as in joined files, and each counts from the first sample that it has: a recorder
/// may begin in the middle of a broadcast (RFC 7845, 4.5). A page that is cut off does not count.
enum OggAudio {
    /// Returns the duration in seconds; nil for another codec or a damaged file.
    static func duration(of bytes: AudioBytes) -> Double? {
        var finished = 0.0
        var stream: Stream?
        /// Whether a page of content has followed the beginnings of streams, which stand together.
        var isBegun = true
        var position = 0
        while let page = nextPage(from: &position, of: bytes) {
            if page.begins {
                if isBegun {
                    finished += stream?.duration ?? 0
                    (stream, isBegun) = (nil, false)
                }
                // Players take the first audio stream of several that run at the same time.
                if stream == nil { stream = Stream(page, of: bytes) }
            } else {
                isBegun = true
            }
            if page.serial == stream?.serial { stream?.add(page, of: bytes) }
        }
        guard stream != nil || finished > 0 else { return nil }
        return finished + (stream?.duration ?? 0)
    }

    fileprivate struct Page {
        let serial: UInt32
        /// Number of the last sample of a packet that ends here; nil if none does.
        let granule: UInt64?
        let begins: Bool
        /// Position of the first packet.
        let content: Int
        /// Sizes of the packets that end here, the first of which may have begun on an earlier page.
        let packets: [Int]
    }

    /// Finds the next whole page, also behind damaged bytes.
    private static func nextPage(from position: inout Int, of bytes: AudioBytes) -> Page? {
        while let start = bytes.firstPosition(of: Array("OggS".utf8), from: position) {
            position = start + 4
            guard bytes.byte(at: start + 4) == 0, let kind = bytes.byte(at: start + 5),
                let granule = bytes.uint64LittleEndian(at: start + 6),
                let serial = bytes.uint32LittleEndian(at: start + 14), let segments = bytes.byte(at: start + 26)
            else { continue }
            let content = start + 27 + Int(segments)
            var packets: [Int] = []
            var (size, open) = (0, 0)
            for index in start + 27..<content {
                let lace = Int(bytes.byte(at: index) ?? 0)
                (size, open) = (size + lace, open + lace)
                guard lace < 255 else { continue }
                packets.append(open)
                open = 0
            }
            guard content + size <= bytes.count else { continue }
            position = content + size
            return Page(
                serial: serial, granule: granule > UInt64(Int64.max) ? nil : granule, begins: kind & 2 != 0,
                content: content,
                packets: packets)
        }
        return nil
    }
}

extension OggAudio {
    /// Audio stream of an Ogg file.
    private struct Stream {
        private enum Codec {
            case opus
            /// Codec with at most so many samples in a packet.
            case other(longest: UInt64)
        }

        let serial: UInt32
        private let codec: Codec
        private let rate: Double
        /// Samples at the begin that are decoded and not played.
        private var skipped: UInt64 = 0
        /// Numbers of the first sample and of the last; nil before the first page with sound.
        private var first: UInt64?
        private var last: UInt64 = 0

        /// Begins a stream by its first page; nil for no audio of a known codec.
        init?(_ page: Page, of bytes: AudioBytes) {
            let packet = page.content
            serial = page.serial
            func rate(at offset: Int) -> UInt32? {
                bytes.uint32LittleEndian(at: packet + offset).flatMap { $0 > 0 ? $0 : nil }
            }
            if bytes.text(at: packet, count: 8) == "OpusHead" {
                guard let preSkip = bytes.uint16LittleEndian(at: packet + 10) else { return nil }
                // Opus counts at 48 kHz, whatever the recording's rate.
                (codec, self.rate, skipped) = (.opus, 48_000, UInt64(preSkip))
            } else if bytes.text(at: packet + 1, count: 6) == "vorbis", let value = rate(at: 12),
                let sizes = bytes.byte(at: packet + 28)
            {
                (codec, self.rate) = (.other(longest: 1 << UInt64(sizes >> 4) / 2), Double(value))
            } else if bytes.text(at: packet, count: 5) == "Speex", let value = rate(at: 36),
                let frame = bytes.uint32LittleEndian(at: packet + 56),
                let count = bytes.uint32LittleEndian(at: packet + 64)
            {
                (codec, self.rate) = (.other(longest: UInt64(frame) * UInt64(max(1, count))), Double(value))
            } else if bytes.text(at: packet + 1, count: 4) == "FLAC",
                let fields = bytes.unsigned(at: packet + 27, size: 4),
                fields >> 12 > 0, let longest = bytes.unsigned(at: packet + 19, size: 2)
            {
                (codec, self.rate) = (.other(longest: longest), Double(fields >> 12))
            } else {
                return nil
            }
        }

        mutating func add(_ page: Page, of bytes: AudioBytes) {
            guard let granule = page.granule, granule > 0 else { return }
            if first == nil {
                let samples = samples(on: page, of: bytes)
                first = granule > samples ? granule - samples : 0
            }
            last = max(last, granule)
        }

        private func samples(on page: Page, of bytes: AudioBytes) -> UInt64 {
            guard case .opus = codec else {
                guard case .other(let longest) = codec else { return 0 }
                return longest.multipliedReportingOverflow(by: UInt64(page.packets.count)).partialValue
            }
            var position = page.content
            var samples: UInt64 = 0
            for size in page.packets {
                samples += Self.opusSamples(at: position, of: bytes)
                position += size
            }
            return samples
        }

        /// Samples of a packet at 48 kHz (RFC 6716, 3.1).
        private static func opusSamples(at position: Int, of bytes: AudioBytes) -> UInt64 {
            guard let kind = bytes.byte(at: position) else { return 0 }
            let configuration = Int(kind >> 3)
            let frame: UInt64 =
                switch configuration {
                case 0..<12: [480, 960, 1920, 2880][configuration % 4]
                case 12..<16: [480, 960][configuration % 2]
                default: [120, 240, 480, 960][configuration % 4]
                }
            switch kind & 3 {
            case 0: return frame
            case 1, 2: return 2 * frame
            default: return frame * UInt64((bytes.byte(at: position + 1) ?? 0) & 63)
            }
        }

        /// In seconds.
        var duration: Double {
            let start = (first ?? 0).addingReportingOverflow(skipped).partialValue
            return last > start ? Double(last - start) / rate : 0
        }
    }
}
