/// Parts of a long transcript, each of whole lines where lines are short enough, else of whole words.
struct TranscriptParts {
    let parts: [String]

    /// Divides a transcript.
    /// - Parameter longest: most characters of a part, at least 1.
    init(_ transcript: String, longest: Int) {
        var parts: [String] = []
        var part = ""
        var length = 0
        func end() {
            if !part.allSatisfy(\.isWhitespace) { parts.append(part) }
            (part, length) = ("", 0)
        }
        for line in transcript.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            var rest = line
            var left = rest.count
            if length > 0, length + left >= longest { end() }
            while left > longest {
                let piece = rest.prefix(longest)
                // The first half of a piece is kept whole, so that each piece gets on.
                let space = piece.dropFirst(longest / 2).lastIndex(where: \.isWhitespace)
                let cut = space ?? piece.endIndex
                part = String(rest[..<cut])
                end()
                left -= rest[..<cut].count
                rest = rest[cut...]
            }
            part += length == 0 ? String(rest) : "\n\(rest)"
            length += left + 1
        }
        end()
        self.parts = parts
    }
}
