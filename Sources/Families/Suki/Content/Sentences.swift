import ScribeDomain

extension String {
    /// Its sentences, without what ends them. A number's decimal point ends none.
    var sentences: [Substring] {
        var sentences: [Substring] = []
        var start = startIndex
        var index = startIndex
        while index < endIndex {
            let next = self.index(after: index)
            let isEnd =
                self[index].isNewline
                || ".?!।;".contains(self[index]) && (next == endIndex || self[next].isWhitespace)
            if isEnd {
                sentences.append(self[start..<index])
                start = next
            }
            index = next
        }
        sentences.append(self[start...])
        return sentences.map { $0.drop(while: \.isWhitespace) }.filter { !$0.isEmpty }
    }
}

extension StringProtocol {
    /// In lower case, without punctuation.
    var plainWords: [Substring] {
        lowercased()[...].split { !$0.isLetter && !$0.isNumber && !"-'.".contains($0) }
            .map { $0.drop { "-'.".contains($0) } }
            .map { word in word.last == "." ? word.dropLast() : word }.filter { !$0.isEmpty }
    }
}
