/// Parses spoken numbers: "one fifty two over ninety four" is 152/94.
enum Numbers {
    static let values: [String: Int] = [
        "zero": 0, "oh": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
        "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
        "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
        "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
    ]
    static let weekdays = Lexicon.set("words/weekdays")
    static let months = Lexicon.set("words/months")
    static let units = Lexicon.set("words/units")
    static let vague = Lexicon.set("words/vague")

    static func isNumber(_ word: String) -> Bool {
        values[word] != nil || Double(word) != nil
            || word.utf8.contains(UInt8(ascii: "-"))
                && word.split(separator: "-").allSatisfy {
                    values[String($0)] != nil || Double($0) != nil
                }
    }

    /// Reads a number that begins at `position`, in digits; a fraction as `152/94`. Nil without one.
    static func value(in tokens: [Token], at position: Int) -> (text: String, end: Int)? {
        guard var (text, end) = whole(in: tokens, at: position) else { return nil }
        if end + 1 < tokens.count, ["point", "dot"].contains(tokens[end].plain) {
            var digits = ""
            var next = end + 1
            while next < tokens.count, let digit = single(tokens[next].plain) {
                digits += digit
                next += 1
            }
            if !digits.isEmpty { (text, end) = ("\(text).\(digits)", next) }
        }
        if end + 1 < tokens.count, ["over", "by", "/"].contains(tokens[end].plain), tokens[end - 1].pause < .end,
            let below = whole(in: tokens, at: end + 1)
        {
            return ("\(text)/\(below.text)", below.end)
        }
        return (text, end)
    }

    private static func single(_ word: String) -> String? {
        if let value = values[word], value < 10 { return String(value) }
        return word.allSatisfy(\.isNumber) ? word : nil
    }

    /// Reads the words of one whole number, such as "one fifty two" or "four hundred and twenty".
    private static func whole(in tokens: [Token], at position: Int) -> (text: String, end: Int)? {
        guard position < tokens.count else { return nil }
        let first = tokens[position].plain
        if let digit = first.unicodeScalars.first, ("0"..."9").contains(digit) {
            let number = first.prefix { $0.isNumber || $0 == "." || $0 == "/" }
            // "1,000"
            let rest = first.dropFirst(number.count)
            if rest.first == ",", rest.utf8.count == 4, rest.dropFirst().allSatisfy(\.isNumber) {
                return (number + String(rest.dropFirst()), position + 1)
            }
            return rest.isEmpty ? (String(number), position + 1) : nil
        }
        var total = 0
        var part: Int?
        var end = position
        scan: while end < tokens.count, end < position + 8 {
            let word = tokens[end].plain
            if end > position, tokens[end - 1].pause > .none { break }
            let pieces = word.split(separator: "-").compactMap { values[String($0)] }
            guard !pieces.isEmpty, pieces.count == word.split(separator: "-").count else {
                // "four hundred and twenty"
                if word == "and", part.map({ $0 >= 100 }) ?? false, end + 1 < tokens.count,
                    values[tokens[end + 1].plain].map({ $0 < 100 }) ?? false
                {
                    end += 1
                    continue
                }
                break
            }
            for value in pieces {
                switch (part, value) {
                case (nil, _): part = value
                case (let known?, 100) where (1..<100).contains(known): part = known * 100
                case (let known?, 1000) where total == 0 && (1..<1000).contains(known):
                    total = (total + known) * 1000
                    part = 0
                case (let known?, _) where known >= 100 && known % 100 == 0 && value < 100: part = known + value
                case (let known?, _) where known >= 20 && known % 10 == 0 && value < 10: part = known + value
                // "one fifty two", "nine oh five", "twenty twelve"
                case (let known?, _) where known < 10 && value >= 10 && value < 100: part = known * 100 + value
                case (let known?, _) where (19...20).contains(known) && value >= 10 && value < 100:
                    part = known * 100 + value
                default: break scan
                }
            }
            end += 1
        }
        // A word that breaks off within itself, "two-two", is none.
        guard let part, end > position else { return nil }
        return (String(total + part), end)
    }
}

extension [Token] {
    /// Writes numbers as digits, with one token for the words of each.
    /// - Parameter isMeant: gets a number's digits and the range of its words, and chooses whether to replace them.
    func replacingNumbers(where isMeant: (String, Range<Int>) -> Bool) -> [Token] {
        var result: [Token] = []
        var position = 0
        while position < count {
            guard let number = Numbers.value(in: self, at: position), isMeant(number.text, position..<number.end) else {
                result.append(self[position])
                position += 1
                continue
            }
            var token = self[position].replaced(by: number.text)
            let last = self[number.end - 1]
            token.pause = last.pause
            token.source = token.source.lowerBound..<Swift.max(token.source.upperBound, last.source.upperBound)
            result.append(token)
            position = number.end
        }
        return result
    }
}
