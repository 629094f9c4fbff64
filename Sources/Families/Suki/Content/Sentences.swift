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
        // Scalars are compared ten times as fast as characters.
        lowercased().unicodeScalars.split { !$0.isInWord }.compactMap { joined -> Substring? in
            var word = joined.drop(while: \.isJoint)
            if word.last == "." { word.removeLast() }
            return word.isEmpty ? nil : Substring(word)
        }
    }
}

extension Unicode.Scalar {
    /// Hyphen, apostrophe and full stop: within a word, and never at its beginning.
    fileprivate var isJoint: Bool { self == "-" || self == "'" || self == "." }

    /// Letters, digits, what is written upon them, and what is between them.
    fileprivate var isInWord: Bool {
        if isASCII { return isJoint || ("a"..."z").contains(self) || ("0"..."9").contains(self) }
        if properties.isAlphabetic || properties.numericType != nil || properties.isJoinControl { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }
}
