import Basics

/// Selects the audio among the files of a session's folder, by any naming scheme (medscribe.md 2.4).
package enum SessionFiles {
    /// Name endings of other files that clients store: descriptions and the archived full recording.
    private static let others = [".json", ".m4a_"]

    /// Audio files in recording order: numbered files by number, then the others by name.
    package static func audio(among names: [String]) -> [String] {
        names.filter { name in !others.contains(where: name.hasSuffix) }
            .map { (number(of: $0), $0) }
            .sorted { ($0.0 ?? .max, $0.1) < ($1.0 ?? .max, $1.1) }
            .map(\.1)
    }

    /// Parses the last run of digits before the last dot: 1 of `audio_1.mp3`, nil of `visit.wav`.
    package static func number(of name: String) -> Int? {
        let bytes = name.utf8
        let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        let digits = bytes[..<end].reversed().drop { !$0.isDigit }.prefix(while: \.isDigit)
        // More than nine digits are no chunk number, but a time or an id.
        return (1...9).contains(digits.count) ? Array(digits.reversed()).number : nil
    }
}
