/// Vital sign with its value, read from speech: "your blood pressure today is one fifty two over ninety four".
struct VitalSign {
    let text: String
    let range: Range<Int>

    static let names = PhraseBook(Lexicon.pairs("vitals/names"))
    private static let between = Lexicon.set("vitals/between")
    private static let units = Lexicon.set("vitals/units")
    private static let endings: Set = ["regular", "irregular"]

    /// Finds all vital signs of a clause, in order.
    static func all(in tokens: [Token]) -> [VitalSign] {
        var found: [VitalSign] = []
        var position = 0
        while position < tokens.count {
            if let sign = sign(in: tokens, at: position) {
                found.append(sign)
                position = sign.range.upperBound
            } else {
                position += 1
            }
        }
        return found
    }

    private static func sign(in tokens: [Token], at position: Int) -> VitalSign? {
        let word = tokens[position].plain
        // "your temperature's 38.2"
        let first = word.hasSuffix("'s") ? String(word.dropLast(2)) : word
        if position > 0, ["fundal", "sitting"].contains(tokens[position - 1].plain), first == "height" { return nil }
        guard
            let entry = names.entries(beginningWith: first)?
                .filter({
                    $0.phrase.count == 1 || tokens.matches($0.phrase, at: position)
                        || matchesPossessive($0.phrase, tokens, position)
                })
                .max(by: { $0.phrase.count < $1.phrase.count })
        else {
            // "lying down you're 142 over 80": only a blood pressure has two values.
            guard let value = Numbers.value(in: tokens, at: position), value.text.contains("/"),
                value.text.split(separator: "/").allSatisfy({ $0.count >= 2 })
            else { return nil }
            let posture = tokens[..<position].suffix(6).last { ["lying", "standing", "sitting"].contains($0.plain) }?
                .plain
            return VitalSign(
                text: ["blood pressure", posture, value.text].compactMap(\.self).joined(separator: " "),
                range: position..<value.end)
        }
        var next = position + entry.phrase.count
        while next < tokens.count, next < position + 8, between.contains(tokens[next].plain) { next += 1 }
        guard let value = Numbers.value(in: tokens, at: next) else { return nil }
        let isPressure = entry.meaning == "blood pressure" || entry.meaning == "BP"
        guard isPressure == value.text.contains("/") else { return nil }
        var end = value.end
        var text = "\(entry.meaning) \(value.text)"
        if end < tokens.count, tokens[end - 1].pause < .end, units.contains(tokens[end].plain) {
            text += " \(tokens[end].shown)"
            end += 1
            if end < tokens.count, ["celsius", "fahrenheit"].contains(tokens[end].plain) { end += 1 }
        }
        let ending = end < tokens.count && tokens[end].plain == "and" ? end + 1 : end
        if ending < tokens.count, endings.contains(tokens[ending].plain) {
            text += " and \(tokens[ending].plain)"
            end = ending + 1
        }
        return VitalSign(text: text, range: position..<end)
    }

    private static func matchesPossessive(_ phrase: [String], _ tokens: [Token], _ position: Int) -> Bool {
        guard position + phrase.count <= tokens.count else { return false }
        return zip(phrase, tokens[position...]).allSatisfy { $0 == $1.plain || "\($0)'s" == $1.plain }
    }
}
