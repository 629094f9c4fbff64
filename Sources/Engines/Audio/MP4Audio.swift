/// Duration of MPEG-4 audio: from the movie header, or summed over the fragments of a fragmented file.
enum MP4Audio {
    /// Deepest nesting of boxes. A duration lies at most four boxes deep; deeper nesting is an attack on the stack.
    private static let depthLimit = 8

    static func duration(of bytes: AudioBytes) -> Double? {
        var movie: (scale: Double, duration: Double)?
        var trackScale: Double?
        var defaultSampleDuration: Double = 0
        var fragmentTicks = 0.0
        var hasMedia = false

        // Only boxes on the path to a duration are opened.
        func walk(_ range: Range<Int>, depth: Int) -> Bool {
            guard depth < depthLimit else { return false }
            var position = range.lowerBound
            while position < range.upperBound {
                guard let (name, content, end) = box(at: position, within: range.upperBound, of: bytes) else {
                    return false
                }
                switch name {
                case "moov", "trak", "mdia", "mvex", "moof", "traf":
                    guard walk(content, depth: depth + 1) else { return false }
                case "mvhd":
                    movie = header(content, of: bytes)
                case "mdhd":
                    trackScale = header(content, of: bytes)?.scale
                case "trex":
                    defaultSampleDuration = Double(bytes.uint32(at: content.lowerBound + 12) ?? 0)
                case "tfhd":
                    defaultSampleDuration = fragmentDefault(content, of: bytes) ?? defaultSampleDuration
                case "trun":
                    fragmentTicks += runTicks(content, default: defaultSampleDuration, of: bytes)
                case "mdat":
                    hasMedia = !content.isEmpty
                default:
                    break
                }
                position = end
            }
            return true
        }

        guard walk(0..<bytes.count, depth: 0), hasMedia, let movie, movie.scale > 0 else { return nil }
        if fragmentTicks > 0, let trackScale, trackScale > 0 { return fragmentTicks / trackScale }
        return movie.duration / movie.scale
    }

    /// Parses a box that lies within its parent; nil if the file ends inside the box.
    private static func box(
        at position: Int, within end: Int, of bytes: AudioBytes
    ) -> (name: String, content: Range<Int>, end: Int)? {
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
        guard size >= UInt64(headerSize), size <= UInt64(end - position) else { return nil }
        return (name, position + headerSize..<position + Int(size), position + Int(size))
    }

    /// Parses time scale and duration of an `mvhd` or `mdhd` box.
    private static func header(_ content: Range<Int>, of bytes: AudioBytes) -> (scale: Double, duration: Double)? {
        let isLong = bytes.byte(at: content.lowerBound) == 1
        guard let scale = bytes.uint32(at: content.lowerBound + (isLong ? 20 : 12)),
            let duration = bytes.unsigned(at: content.lowerBound + (isLong ? 24 : 16), size: isLong ? 8 : 4)
        else { return nil }
        return (Double(scale), Double(duration))
    }

    private static func fragmentDefault(_ content: Range<Int>, of bytes: AudioBytes) -> Double? {
        guard let flags = bytes.uint32(at: content.lowerBound), flags & 0x8 != 0 else { return nil }
        let position = content.lowerBound + 8 + (flags & 0x1 != 0 ? 8 : 0) + (flags & 0x2 != 0 ? 4 : 0)
        return bytes.uint32(at: position).map { Double($0) }
    }

    private static func runTicks(_ content: Range<Int>, default sampleDuration: Double, of bytes: AudioBytes) -> Double
    {
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
