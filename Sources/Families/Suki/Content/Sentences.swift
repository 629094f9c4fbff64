extension String {
    /// Splits a text into sentences, without their end marks. A decimal point ends no sentence.
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
    /// Splits a text into words: lower case, without punctuation.
    var plainWords: [Substring] {
        // Comparing scalars is ten times as fast as comparing characters.
        lowercased().unicodeScalars.split { !$0.isInWord }.compactMap { joined -> Substring? in
            var word = joined.drop(while: \.isJoint)
            if word.last == "." { word.removeLast() }
            return word.isEmpty ? nil : Substring(word)
        }
    }
}

extension Unicode.Scalar {
    /// Hyphen, apostrophe and full stop: inside a word, never at its start.
    fileprivate var isJoint: Bool { self == "-" || self == "'" || self == "." }

    /// Letters, digits, combining marks and joints.
    fileprivate var isInWord: Bool {
        if isASCII { return isJoint || ("a"..."z").contains(self) || ("0"..."9").contains(self) }
        if properties.isAlphabetic || properties.numericType != nil || properties.isJoinControl { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }
}
