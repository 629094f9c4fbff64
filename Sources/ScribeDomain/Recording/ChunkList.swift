import Basics

/// Audio files that stop and commit list, in order, with the time span of each file.
package struct ChunkList: Hashable, Sendable {
    /// Bare file names in recording order, for example `1.m4a`.
    package var files: [String]
    /// Start and end of each file in the session's timeline, for the files whose times the client sent.
    package var times: [String: ChunkTimes]

    /// Creates a list from bare file names or full URIs. URIs, which some clients send
    /// (C-15), are cut to their file names.
    package init(files: [String], times: [String: ChunkTimes] = [:]) {
        self.files = files.map(Self.fileName)
        self.times = Dictionary(
            times.map { (Self.fileName($0.key), $0.value) }, uniquingKeysWith: { _, last in last })
    }

    static func fileName(_ name: String) -> String {
        // Bare names return at once: nearly all names are bare, and a search for `://` is slow.
        guard name.utf8.contains(UInt8(ascii: "/")), name.contains("://") else { return name }
        return String(name.split(ascii: "/").last ?? "")
    }
}

/// Time span of a chunk, in seconds from the start of the session. Consecutive chunks overlap by about 0.5 s.
package struct ChunkTimes: Hashable, Sendable {
    package let start: Double
    package let end: Double

    package init(start: Double, end: Double) {
        self.start = start
        self.end = end
    }

    /// Whether both times lie within a session, 0 to ``Limits/sessionLength`` seconds.
    package static func canBe(_ start: Double, _ end: Double) -> Bool {
        (0...Limits.sessionLength).contains(start) && (0...Limits.sessionLength).contains(end)
    }

    /// Relation of a chunk's times to those of the chunk before it.
    package enum Seam: Hashable, Sendable {
        /// The chunk begins about where the one before ends.
        case adjacent
        /// The chunk repeats the end of the one before, as recorders make it: by half a second, and at most a second or
        /// a tenth of a chunk.
        case repeating
        /// The times cannot be right: they overlap by more, or run backwards.
        case overlapping
        /// Time is missing between the chunks.
        case gap
    }

    private var length: Double { end - start }

    /// Relation to the chunk that follows.
    package func seam(before next: ChunkTimes) -> Seam {
        // A hundredth for rounding.
        let allowed = max(1, min(length, next.length) / 10) + 0.01
        let overlap = end - next.start
        if length < 0 || next.length < 0 || next.start < start || overlap > allowed { return .overlapping }
        return overlap > 0 ? .repeating : overlap < -allowed ? .gap : .adjacent
    }

    /// Whether a file of this duration in seconds can have these times.
    func fits(_ duration: Double?) -> Bool {
        duration.map { abs(length - $0) <= max(1, $0 / 10) } ?? true
    }

    /// Parses the seconds that clients send: `12.48`, `MM:SS.fff` or `HH:MM:SS.fff`
    /// (eka.md 3.1). Nil for any other text.
    package static func seconds(from text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var total = 0.0
        for part in parts {
            guard let value = Double(part), value.isFinite, value >= 0 else { return nil }
            total = total * 60 + value
        }
        return total.isFinite ? total : nil
    }
}

/// Parses the number in a chunk's file name: 12 for `12.m4a`, nil for `full_audio.m4a_`.
package func chunkOrdinal(ofFile name: String) -> Int? {
    let parts = name.split(ascii: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].isEmpty, !parts[1].hasSuffix("_"),
        (1...9).contains(parts[0].utf8.count)
    else { return nil }
    return parts[0].utf8.number
}
