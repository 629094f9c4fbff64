import Documents

/// Word lists of the rules, embedded text files: `lexicon/en/*.txt` of English, `lexicon/hi/*.txt` of Hindi.
///
/// A file is one list, with a phrase on each line, or several, each below its name: `[subjects]`. Lines that begin with
/// `#` are comments. A list of English is named without its language: `clauses/subjects`.
enum Lexicon {
    static let lists: [String: [String]] = {
        var lists: [String: [String]] = [:]
        for index in 0..<lexicon_file_count() {
            let file = lexicon_file(index)
            let path = String(cString: file.name)
            var name = path
            var lines: [String] = []
            let bytes = UnsafeBufferPointer(start: file.document.start, count: file.document.count)
            var start = 0
            for end in bytes.indices where bytes[end] == UInt8(ascii: "\n") {
                let line = bytes[start..<end]
                start = end + 1
                switch line.first {
                case nil, UInt8(ascii: "#"): continue
                case UInt8(ascii: "["):
                    if !lines.isEmpty { lists[name] = lines }
                    lines = []
                    name = "\(path)/\(String(decoding: line.dropFirst().dropLast(), as: UTF8.self))"
                default: lines.append(String(decoding: line, as: UTF8.self))
                }
            }
            lists[name] = lines
        }
        return lists
    }()

    /// Phrases of a list. A test checks that every list that the code names exists.
    static func words(_ list: String) -> [String] { lists[list] ?? [] }

    static func set(_ list: String) -> Set<String> { Set(words(list)) }

    static func phrases(_ list: String) -> PhraseBook<Void> { PhraseBook(words(list)) }

    /// Phrases of a list with their meanings, `sore gala = sore throat`; the meaning of `let's =` is empty.
    static func pairs(_ list: String) -> [(phrase: String, meaning: String)] {
        words(list).map { line in
            guard let mark = line.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (line, "") }
            let start = line.utf8.index(mark, offsetBy: 2, limitedBy: line.utf8.endIndex) ?? line.utf8.endIndex
            return (String(line[..<line.utf8.index(before: mark)]), String(line[start...]))
        }
    }

    static func dictionary(_ list: String) -> [String: String] {
        Dictionary(pairs(list).map { ($0.phrase, $0.meaning) }) { $1 }
    }
}

extension Lexicon {
    /// Words of agreement that begin an answer.
    static let agreeing = set("answers/agreeing")
    static let negations = set("answers/negations")
    static let bodyParts = set("body-parts")
}
