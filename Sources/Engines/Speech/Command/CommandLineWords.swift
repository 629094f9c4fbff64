/// Splits a command line into words as a shell would, without running one: white space separates, quotes and
/// backslashes keep together, nothing is expanded.
package enum CommandLineWords {
    /// - Throws: ``Problem`` when a quote is left open.
    package static func split(_ line: String) throws(Problem) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = Array(line)[...]
        while let character = characters.popFirst() {
            switch (character, quote) {
            case ("\\", "'"): word = (word ?? "") + "\\"
            case ("\\", "\""):
                // Within double quotes only these are escaped.
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

    /// What is wrong with a command line.
    package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        case openQuote
        case trailingBackslash
        case noProgram
        case unknownPlaceholder(String)
        /// Neither `{wav}` nor `{file}`: a program is given nothing on standard input.
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
