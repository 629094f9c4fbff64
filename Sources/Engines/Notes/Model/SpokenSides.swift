/// Sides of the body in a text, each with the part that it belongs to.
struct SpokenSides {
    struct Side: Hashable {
        let name: String
        /// Part of the body beside the word; nil if none is.
        let part: String?
    }

    private(set) var all: Set<Side> = []

    private static let names = [
        "left": "left", "l": "left", "lt": "left", "left-sided": "left", "left-hand": "left", "right-sided": "right",
        "r": "right", "rt": "right", "right-hand": "right", "bilateral": "both", "bilaterally": "both", "both": "both",
    ]
    /// Words beside which "right" is no side.
    private static let beforeNoSide: Set = ["all", "that's", "is", "are", "you're", "i'm", "not", "be"]
    private static let afterNoSide: Set = ["now", "away", "so", "okay", "then", "there", "here", "to", "after", "let"]

    /// Reads the sides of clauses.
    init(_ clauses: [[Token]]) {
        // The last part of the body that was named, with the number of clauses since then.
        var last: (part: String, age: Int)?
        for tokens in clauses {
            for place in tokens.indices {
                guard let name = Self.side(at: place, in: tokens, isAlone: tokens.count == 1 && last != nil) else {
                    continue
                }
                var part = Self.part(beside: place, in: tokens)
                // "Which knee?" "The right one."
                if part == nil, let last, last.age < 4 { part = last.part }
                all.insert(Side(name: name, part: part))
            }
            last = last.map { ($0.part, $0.age + 1) }
            if let part = tokens.last(where: Self.isPart) { last = (part.plain.wordStem, 0) }
        }
        // "My left leg and my right leg" are both legs.
        for side in all where side.name == "left" && all.contains(Side(name: "right", part: side.part)) {
            all.insert(Side(name: "both", part: side.part))
        }
    }

    /// Whether a side of a statement was said of its part.
    func has(_ side: Side) -> Bool { side.part == nil ? all.contains { $0.name == side.name } : all.contains(side) }

    private static func isPart(_ token: Token) -> Bool {
        Lexicon.bodyParts.contains(token.plain) || Lexicon.bodyParts.contains(token.plain.wordStem)
    }

    /// The part right behind a side, else the one right before it.
    private static func part(beside place: Int, in tokens: [Token]) -> String? {
        var index = place
        while index + 1 < tokens.count, index < place + 4, tokens[index].pause == .none {
            index += 1
            if isPart(tokens[index]) { return tokens[index].plain.wordStem }
        }
        index = place - 1
        while index >= 0, index >= place - 4, tokens[index].pause == .none {
            if isPart(tokens[index]) { return tokens[index].plain.wordStem }
            index -= 1
        }
        return nil
    }

    /// - Parameter isAlone: whether the word is the whole answer to a question about a part of the body.
    private static func side(at place: Int, in tokens: [Token], isAlone: Bool) -> String? {
        let word = tokens[place].plain
        guard word == "right" else { return names[word] }
        if isAlone { return "right" }
        // "Right, let me see" and "right now"
        if tokens[place].pause > .none, place == 0 || tokens[place - 1].pause > .none { return nil }
        if place > 0, beforeNoSide.contains(tokens[place - 1].plain) { return nil }
        if place + 1 < tokens.count, afterNoSide.contains(tokens[place + 1].plain) { return nil }
        return "right"
    }
}
