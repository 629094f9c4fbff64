/// The audio of a session among the files in its folder, whatever its client has called it (medscribe.md 2.4).
package enum SessionFiles {
    /// What clients keep beside the audio: descriptions, and the whole recording once more.
    private static let others = [".json", ".m4a_"]

    /// The files that are audio, in the order in which they were recorded: those with a number by it, the others after
    /// them, and by name where that tells nothing.
    package static func audio(among names: [String]) -> [String] {
        names.filter { name in !others.contains(where: name.hasSuffix) }
            .map { (number(of: $0), $0) }
            .sorted { ($0.0 ?? .max, $0.1) < ($1.0 ?? .max, $1.1) }
            .map(\.1)
    }

    /// The last run of digits before the last dot: 1 of `audio_1.mp3`, nil of `visit.wav`.
    package static func number(of name: String) -> Int? {
        let bytes = name.utf8
        let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        let digits = bytes[..<end].reversed().drop { !$0.isDigit }.prefix(while: \.isDigit)
        // A longer one is no number of a chunk, but a time or an id.
        return (1...9).contains(digits.count) ? Array(digits.reversed()).number : nil
    }
}
