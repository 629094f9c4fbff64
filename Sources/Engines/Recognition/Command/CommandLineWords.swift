/// Splits a command line into words like a shell, without running one: white space separates, quotes and backslashes
/// group, and nothing is expanded.
package enum CommandLineWords {
    /// Splits a command line.
    /// - Throws: ``Problem`` for an open quote or a trailing backslash.
    package static func split(_ line: String) throws(Problem) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = Array(line)[...]
        while let character = characters.popFirst() {
            switch (character, quote) {
            case ("\\", "'"): word = (word ?? "") + "\\"
            case ("\\", "\""):
                // Within double quotes a backslash escapes only these characters.
                if let next = characters.first, "\"\\$`".contains(next) {
                    word = (word ?? "") + String(characters.removeFirst())
                } else {
                    word = (word ?? "") + "\\"
                }
            case ("\\", _):
                guard let next = characters.popFirst() else { throw Problem.trailingBackslash }
                word = (word ?? "") + String(next)
            case ("'", nil), ("\"", nil):
                quote = character
                word = word ?? ""
            case (let closing, let open?) where closing == open: quote = nil
            case (let space, nil) where space.isWhitespace:
                if let finished = word { words.append(finished) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { throw .openQuote }
        if let word { words.append(word) }
        return words
    }

    /// Error in a command line.
    package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        case openQuote
        case trailingBackslash
        case noProgram
        case unknownPlaceholder(String)
        /// The line has neither `{wav}` nor `{file}`; a program gets nothing on standard input.
        case noRecording

        package var description: String {
            switch self {
            case .openQuote: "a quote in the command is not closed"
            case .trailingBackslash: "the command ends with a backslash"
            case .noProgram: "the command names no program"
            case .noRecording: "the command names neither {wav} nor {file}, so its program would get no recording"
            case .unknownPlaceholder(let name): "\(name) is no placeholder; there are {file}, {wav} and {language}"
            }
        }
    }
}
