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

    /// Whether two chunks' time spans overlap, so that the next chunk repeats the end of this one.
    package func overlaps(_ next: ChunkTimes) -> Bool { next.start < end && start < next.end }

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
