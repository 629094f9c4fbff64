/// Incremental parser of a WAV file's header, for whole files and for streams.
package struct WaveHeaderParser {
    /// Contents of a `fmt ` chunk; fields that a short chunk lacks are 0.
    package struct Format {
        /// RIFF's format number: 1 for linear samples, 3 for floating-point ones, 6 for A-law, 7 for µ-law. The
        /// extensible format has that of its sub-format.
        package let code: Int
        package let channels: Int
        /// In Hz.
        package let sampleRate: Int
        let bytesPerSecond: Int
        /// Bits per sample of one channel.
        package let bits: Int
    }

    /// Contents of the last `fmt ` chunk so far.
    package private(set) var format: Format?
    /// Number of samples of a channel, which compressed audio declares.
    private var samples = 0
    /// Offset of the first sample in bytes; nil until the header is complete.
    package private(set) var start: Int?
    /// Size of the samples in bytes; nil if unknown: streaming recorders write 0 or the largest number.
    package private(set) var size: Int?
    /// Progress, so that no byte is parsed twice.
    private var position = 0
    private var chunks = 0

    /// Longest header of a stream in bytes, and most chunks in it.
    private static let longest = 64 << 10
    private static let maxChunks = 32

    package init() {}

    /// Parses the header of a whole file; nil for other files, and for files without samples.
    init?(_ file: AudioBytes) {
        guard file.withBytes({ parse($0, isStream: false) }), start != nil else { return nil }
    }

    /// Duration of a whole file in seconds; nil without a format.
    func duration(in file: AudioBytes) -> Double? {
        guard let format, let present = size(in: file) else { return nil }
        if SampleFormat(format) == nil, samples > 0, format.sampleRate > 0 {
            return Double(samples) / Double(format.sampleRate) * Double(present) / Double(max(1, size ?? present))
        }
        return format.bytesPerSecond > 0 ? Double(present) / Double(format.bytesPerSecond) : nil
    }

    /// Size of the samples that a whole file has, in bytes: a truncated file has fewer than it declares.
    func size(in file: AudioBytes) -> Int? {
        start.map { min(size ?? .max, file.count - $0) }
    }

    /// Whether a file with these first twelve bytes is a WAV file.
    package static func isWave(_ bytes: [UInt8]) -> Bool {
        ["RIFF", "RF64", "BW64"].contains { bytes.starts(with: $0.utf8) }
            && bytes.dropFirst(8).starts(with: "WAVE".utf8)
    }

    /// Parses as much of the header as has arrived.
    /// - Parameter bytes: All bytes of the file so far.
    /// - Returns: false for bytes of another format, and for a longer header than a stream may have.
    package mutating func parse<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes, isStream: Bool = true) -> Bool
    where Bytes.Index == Int {
        /// `count` bytes, which the caller knows to be there.
        func number(at offset: Int, count: Int) -> Int {
            let start = bytes.startIndex + offset
            return stride(from: start + count - 1, through: start, by: -1).reduce(0) { $0 << 8 | Int(bytes[$1]) }
        }
        func has(_ name: StaticString, at offset: Int) -> Bool {
            number(at: offset, count: 4) == name.withUTF8Buffer { $0.reversed().reduce(0) { $0 << 8 | Int($1) } }
        }
        if position == 0 {
            guard bytes.count >= 12 else { return true }
            guard Self.isWave(Array(bytes.prefix(12))) else { return false }
            position = 12
        }
        while start == nil, bytes.count >= position + 8 {
            let (chunk, length) = (position + 8, number(at: position + 4, count: 4))
            if has("data", at: position) {
                start = chunk
                size = [0, Int(UInt32.max)].contains(length) ? nil : length
                return true
            }
            // Chunks are padded to an even length.
            let end = chunk + length + length & 1
            guard !isStream || end <= 20 + Self.longest && chunks < Self.maxChunks else { return false }
            guard bytes.count >= end else { return true }
            if has("fmt ", at: position) {
                func field(_ offset: Int, _ count: Int) -> Int {
                    offset + count <= length ? number(at: chunk + offset, count: count) : 0
                }
                let code = field(0, 2)
                format = Format(
                    code: code == 0xFFFE ? max(1, field(24, 2)) : code, channels: field(2, 2), sampleRate: field(4, 4),
                    bytesPerSecond: field(8, 4),
                    bits: field(14, 2))
            }
            if has("fact", at: position), length >= 4 { samples = number(at: chunk, count: 4) }
            chunks += 1
            position = end
        }
        return true
    }
}
