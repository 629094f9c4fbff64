/// Recordings in an MPEG-4 file, by the headers of its first audio track, or summed over the fragments of a fragmented
/// file. A file may have several recordings, one after another, of which players read the first alone.
struct MP4Audio {
    /// Deepest nesting of boxes. A duration lies at most four boxes deep; deeper nesting is an attack on the stack.
    private static let depthLimit = 8
    /// Most recordings of a file.
    private static let maxParts = 16

    /// Recording in a file.
    struct Part {
        /// Bytes of the recording.
        let range: Range<Int>
        /// In seconds.
        let duration: Double
    }

    private struct Track {
        /// Whether the track is known to be no sound.
        var isOther = false
        var scale = 0.0
        var duration = 0.0
        var defaultSampleDuration = 0.0
        /// Duration of all fragments, and of the last one.
        var ticks = 0.0
        var lastTicks = 0.0
    }

    private let bytes: AudioBytes
    private var movie: (scale: Double, duration: Double)?
    private var tracks: [UInt32: Track] = [:]
    /// Ids of the tracks in their order; the last one is being read.
    private var order: [UInt32] = []
    /// Track of the present fragment.
    private var current: UInt32 = 0
    private var hasMedia = false
    /// Part of the media's bytes that the file has.
    private var share = 1.0

    private init(_ bytes: AudioBytes) { self.bytes = bytes }

    /// Recordings of a file; nil for a damaged file. A file may end within its last fragment, and other bytes may
    /// stand behind its boxes.
    static func parts(of bytes: AudioBytes) -> [Part]? {
        var parts: [Part] = []
        var reader = MP4Audio(bytes)
        var (start, position) = (0, 0)
        func end(_ reader: MP4Audio, at place: Int) -> Bool {
            guard let duration = reader.duration else { return false }
            parts.append(Part(range: start..<place, duration: duration))
            return parts.count <= maxParts
        }
        while let box = reader.box(at: position, within: bytes.count) {
            if box.name == "ftyp", position > start {
                guard end(reader, at: position) else { return nil }
                (reader, start) = (MP4Audio(bytes), position)
            }
            let isCut = box.end > bytes.count
            if box.name == "mdat" {
                reader.addMedia(box.content)
            } else if !isCut {
                guard reader.read(box, depth: 0) else { return nil }
            }
            if isCut { break }
            position = box.end
        }
        return end(reader, at: bytes.count) ? parts : nil
    }

    /// In seconds; nil without media, or with tracks of which none is sound, and for a file that was cut off although
    /// its recorder had ended it.
    private var duration: Double? {
        guard hasMedia, let movie, movie.scale > 0 else { return nil }
        let whole = movie.duration / movie.scale
        let track = order.lazy.compactMap { tracks[$0] }.first { !$0.isOther && $0.scale > 0 }
        if let track, track.ticks > 0 { return (track.ticks - track.lastTicks * (1 - share)) / track.scale }
        guard share == 1 else { return nil }
        guard let track else { return order.isEmpty ? whole : nil }
        // The movie may have a longer track, and the track samples that are not played.
        let own = track.duration / track.scale
        return whole > 0 && own > 0 ? min(whole, own) : max(whole, own)
    }

    private mutating func addMedia(_ content: Range<Int>) {
        guard !content.isEmpty, content.lowerBound < bytes.count else { return }
        hasMedia = true
        share = min(1, Double(bytes.count - content.lowerBound) / Double(content.count))
    }

    /// Reads a box. Only boxes on the path to a duration are opened.
    private mutating func read(_ box: Box, depth: Int) -> Bool {
        let (content, start) = (box.content, box.content.lowerBound)
        let track = order.last ?? 0
        switch box.name {
        case "moof", "moov", "mdia", "mvex", "traf", "trak":
            guard depth + 1 < Self.depthLimit else { return false }
            if box.name == "moof" { for id in tracks.keys { tracks[id]?.lastTicks = 0 } }
            var position = start
            while position < content.upperBound {
                guard let inner = self.box(at: position, within: content.upperBound), inner.end <= content.upperBound,
                    read(inner, depth: depth + 1)
                else { return false }
                position = inner.end
            }
        case "mvhd": movie = header(content)
        case "tkhd":
            guard let id = bytes.uint32(at: start + (bytes.byte(at: start) == 1 ? 20 : 12)) else { return false }
            order.append(id)
            tracks[id] = tracks[id] ?? Track()
        case "mdhd":
            guard let header = header(content) else { return false }
            tracks[track]?.scale = header.scale
            tracks[track]?.duration = header.duration
        case "hdlr": tracks[track]?.isOther = bytes.text(at: start + 8, count: 4) != "soun"
        case "trex":
            guard let id = bytes.uint32(at: start + 4), let duration = bytes.uint32(at: start + 12) else {
                return false
            }
            tracks[id, default: Track()].defaultSampleDuration = Double(duration)
        case "tfhd":
            current = bytes.uint32(at: start + 4) ?? 0
            if let duration = fragmentDefault(content) { tracks[current]?.defaultSampleDuration = duration }
        case "trun":
            guard let track = tracks[current] else { return true }
            let ticks = runTicks(content, default: track.defaultSampleDuration)
            tracks[current]?.ticks += ticks
            tracks[current]?.lastTicks += ticks
        default: break
        }
        return true
    }
}

extension MP4Audio {
    private struct Box {
        let name: String
        let content: Range<Int>
        var end: Int { content.upperBound }
    }

    /// Parses the header of a box, which may reach beyond its parent; nil for bytes that are no box.
    private func box(at position: Int, within end: Int) -> Box? {
        guard let short = bytes.uint32(at: position), let name = bytes.text(at: position + 4, count: 4) else {
            return nil
        }
        var headerSize = 8
        var size = UInt64(short)
        if short == 1 {
            guard let long = bytes.unsigned(at: position + 8, size: 8) else { return nil }
            headerSize = 16
            size = long
        } else if short == 0 {
            size = UInt64(end - position)
        }
        guard size >= UInt64(headerSize), size <= 1 << 48 else { return nil }
        return Box(name: name, content: position + headerSize..<position + Int(size))
    }

    /// Parses time scale and duration of an `mvhd` or `mdhd` box.
    private func header(_ content: Range<Int>) -> (scale: Double, duration: Double)? {
        let isLong = bytes.byte(at: content.lowerBound) == 1
        guard let scale = bytes.uint32(at: content.lowerBound + (isLong ? 20 : 12)),
            let duration = bytes.unsigned(at: content.lowerBound + (isLong ? 24 : 16), size: isLong ? 8 : 4)
        else { return nil }
        return (Double(scale), Double(duration))
    }

    private func fragmentDefault(_ content: Range<Int>) -> Double? {
        guard let flags = bytes.uint32(at: content.lowerBound), flags & 0x8 != 0 else { return nil }
        let position = content.lowerBound + 8 + (flags & 0x1 != 0 ? 8 : 0) + (flags & 0x2 != 0 ? 4 : 0)
        return bytes.uint32(at: position).map { Double($0) }
    }

    private func runTicks(_ content: Range<Int>, default sampleDuration: Double) -> Double {
        guard let flags = bytes.uint32(at: content.lowerBound), let count = bytes.uint32(at: content.lowerBound + 4)
        else { return 0 }
        guard flags & 0x100 != 0 else { return Double(count) * sampleDuration }
        var position = content.lowerBound + 8 + (flags & 0x1 != 0 ? 4 : 0) + (flags & 0x4 != 0 ? 4 : 0)
        let stride = [0x100, 0x200, 0x400, 0x800].reduce(0) { $0 + (Int(flags) & $1 != 0 ? 4 : 0) }
        var ticks = 0.0
        for _ in 0..<count {
            guard position < content.upperBound, let value = bytes.uint32(at: position) else { break }
            ticks += Double(value)
            position += stride
        }
        return ticks
    }
}
