import Basics

/// Words of a text and pairs of neighbours, sentence by sentence, as ``UrgencyModel`` weighs them.
///
/// Denied words begin with `-`, and words of a question without a yes with `?`. "No fever. Any rash?" has `no`,
/// `-fever`, `-no fever`, `?any`, `?rash` and `?any rash`.
package struct UrgencyFeatures {
    /// A sentence, or a part of a long one.
    package struct Sentence {
        /// Number of the words.
        package var length = 0
        package fileprivate(set) var features: [String] = []
        fileprivate var isQuestion = false
        fileprivate var answer: Answer?
    }

    fileprivate enum Answer {
        case yes, no

        private static let affirmative = Lexicon.agreeing.subtracting(["uh-huh", "mm-hmm", "sure", "mhm"])
            .union(["yea", "han", "ji", "हाँ", "हां", "definitely"])
        private static let negative: Set = ["no", "nope", "nah", "never", "none", "nahi", "nahin", "नहीं", "not"]

        init?(_ first: String) {
            if Self.affirmative.contains(first) {
                self = .yes
            } else if Self.negative.contains(first) {
                self = .no
            } else {
                return nil
            }
        }
    }

    /// Most words of a sentence: speech without punctuation is cut into sentences of this length.
    private static let longestSentence = 30
    /// Number of words that a denial reaches.
    private static let reach = 4
    private static let denials = Lexicon.negations.union(["none", "nothing", "nahi", "nahin", "नहीं"])

    package private(set) var sentences: [Sentence] = []

    /// Reads a text of one or several turns.
    /// - Parameter question: Text said just before. Its last question counts if the text answers it with yes.
    package init(_ text: String, after question: String? = nil) {
        let said = Self.sentences(of: text)
        if said.first?.answer == .yes,
            let asked = question.flatMap({ Self.sentences(of: $0).last(where: \.isQuestion) })
        {
            sentences.append(asked)
        }
        for sentence in said {
            if let answer = sentence.answer { settle(answer) } else { settle(nil) }
            sentences.append(sentence)
        }
        settle(nil)
    }

    /// Whether a text begins with a yes, so that the question before it counts.
    package static func isAnswer(_ text: String) -> Bool {
        sentences(of: text).first?.answer == .yes
    }

    /// Marks the features of the question that was asked last.
    private mutating func settle(_ answer: Answer?) {
        guard let last = sentences.indices.last, sentences[last].isQuestion else { return }
        let mark =
            switch answer {
            case .yes: ""
            case .no: "-"
            case nil: "?"
            }
        sentences[last].features = sentences[last].features.map { mark == "-" && $0.hasPrefix("-") ? $0 : mark + $0 }
        sentences[last].isQuestion = false
    }

    private static func sentences(of text: String) -> [Sentence] {
        EventLoopOffload.watch(bytes: text.utf8.count, of: "urgency")
        var sentences: [Sentence] = []
        for line in text.lines {
            var sentence = Sentence()
            var previous: String?
            var denied = 0
            func end() {
                if sentence.length > 0 { sentences.append(sentence) }
                sentence = Sentence()
                previous = nil
                denied = 0
            }
            for word in Token.words(in: withoutLabel(line)) {
                for plain in parts(of: word.plain) {
                    if sentence.length == longestSentence { end() }
                    if sentence.length == 0 { sentence.answer = Answer(plain) }
                    let mark = denied > 0 ? "-" : ""
                    denied -= 1
                    sentence.features.append(mark + plain)
                    if let previous { sentence.features.append("\(mark)\(previous) \(plain)") }
                    if denials.contains(plain) { denied = reach }
                    previous = plain
                    sentence.length += 1
                }
                guard let last = word.shown.unicodeScalars.last, [".", "?", "!", "।"].contains(last) else { continue }
                sentence.isQuestion = last == "?" && sentence.length > 0
                end()
            }
            end()
        }
        return sentences
    }

    /// Words within a word: "st/elevation". A year becomes `#year`.
    private static func parts(of word: String) -> [String] {
        // Fast path: most words are plain, and character comparison is slow.
        let apostrophe = UInt8(ascii: "'")
        if word.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == apostrophe }) {
            return word.isEmpty ? [] : [word]
        }
        return word.split { $0 != "'" && $0 != "-" && !$0.isLetter && !$0.isNumber }
            .map { isYear($0) ? "#year" : String($0) }
    }

    private static func isYear(_ word: Substring) -> Bool {
        word.utf8.count == 4 && (word.hasPrefix("19") || word.hasPrefix("20"))
            && word.utf8.allSatisfy(\.isDigit)
    }

    /// A line without the name of its speaker: "Nurse: he is asleep".
    private static func withoutLabel(_ line: Substring) -> Substring {
        guard line.utf8.prefix(24).contains(UInt8(ascii: ":")), let colon = line.firstIndex(of: ":"),
            line[..<colon].words.count <= 3
        else { return line }
        return line[line.index(after: colon)...]
    }
}
