/// Duration of WebM files: from the header, or the time of the last block, because browsers record without a duration,
/// and recordings are cut off. Joined recordings count one after another.
enum WebMAudio {
    private enum Element {
        static let header: UInt64 = 0x1A45_DFA3
        static let segment: UInt64 = 0x1853_8067
        static let info: UInt64 = 0x1549_A966
        static let timestampScale: UInt64 = 0x2A_D7B1
        static let duration: UInt64 = 0x4489
        static let cluster: UInt64 = 0x1F43_B675
        static let clusterTimestamp: UInt64 = 0xE7
        static let simpleBlock: UInt64 = 0xA3
        static let blockGroup: UInt64 = 0xA0
        static let block: UInt64 = 0xA1
    }

    static func duration(of bytes: AudioBytes) -> Double? {
        var scale = 1_000_000.0
        var declared: Double?
        var cluster = 0.0
        var last: Double?
        var finished = 0.0
        var position = 0
        while position < bytes.count {
            guard let (id, idSize) = number(at: position, of: bytes, keepingMarker: true),
                let (size, sizeSize) = number(at: position + idSize, of: bytes, keepingMarker: false)
            else { break }
            let content = position + idSize + sizeSize
            switch id {
            case Element.header where position > 0:
                finished += max(declared ?? 0, last ?? 0) * scale
                (scale, declared, cluster, last) = (1_000_000, nil, 0, nil)
            case Element.segment, Element.info, Element.cluster, Element.blockGroup:
                // Container elements are opened: their content comes next. Their size
                // may be unknown in a live recording.
                position = content
                continue
            case Element.timestampScale:
                scale = bytes.unsigned(at: content, size: Int(min(size, 8))).map { Double($0) } ?? scale
            case Element.duration:
                declared = float(at: content, size: size, of: bytes)
            case Element.clusterTimestamp:
                cluster = bytes.unsigned(at: content, size: Int(min(size, 8))).map { Double($0) } ?? cluster
            case Element.simpleBlock, Element.block:
                // Layout: a track number, then a signed time relative to the cluster.
                if let (_, trackSize) = number(at: content, of: bytes, keepingMarker: false),
                    let relative = bytes.unsigned(at: content + trackSize, size: 2)
                {
                    last = max(last ?? 0, cluster + Double(Int16(truncatingIfNeeded: relative)))
                }
            default:
                break
            }
            guard size <= UInt64(bytes.count - content) else {
                // The header tells the length that the recording had before it was cut off.
                declared = nil
                break
            }
            position = content + Int(size)
        }
        guard last != nil || finished > 0, scale > 0 else { return nil }
        return (finished + max(declared ?? 0, last ?? 0) * scale) / 1_000_000_000
    }

    /// Parses an EBML number of variable length and its size in bytes.
    private static func number(
        at position: Int, of bytes: AudioBytes, keepingMarker: Bool
    ) -> (value: UInt64, size: Int)? {
        guard let first = bytes.byte(at: position), first != 0 else { return nil }
        let size = first.leadingZeroBitCount + 1
        guard let value = bytes.unsigned(at: position, size: size) else { return nil }
        return (keepingMarker ? value : value & ~(1 << (7 * UInt64(size))), size)
    }

    private static func float(at position: Int, size: UInt64, of bytes: AudioBytes) -> Double? {
        switch size {
        case 4: bytes.uint32(at: position).map { Double(Float(bitPattern: $0)) }
        case 8: bytes.unsigned(at: position, size: 8).map(Double.init(bitPattern:))
        default: nil
        }
    }
}
