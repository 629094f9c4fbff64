/// Joins a condition and its consequence across a pause: "If the pain comes at rest, | ring 999."
enum ConditionalClauses {
    static func joined(_ clauses: [Dialogue.Clause]) -> [Dialogue.Clause] {
        var joined: [Dialogue.Clause] = []
        joined.reserveCapacity(clauses.count)
        for clause in clauses {
            if let last = joined.last, last.speaker == .clinician, clause.speaker == .clinician,
                last.turn == clause.turn,
                clause.act != .question, last.tokens.count < 40, isOpen(last.tokens),
                (last.tokens.last?.pause ?? .end) < .end
                    || !last.isLabelled
            {
                joined[joined.count - 1].tokens += clause.tokens
            } else {
                joined.append(clause)
            }
        }
        return joined
    }

    private static func isOpen(_ tokens: [Token]) -> Bool {
        guard tokens.prefix(3).contains(where: { ["if", "unless", "otherwise"].contains($0.plain) }) else {
            return false
        }
        return !ReturnPrecaution.isAction(tokens)
    }
}

/// Recognises advice to come back or call for help at once.
enum ReturnPrecaution {
    static let actions = Lexicon.set("clauses/return-actions")
    static func isOne(_ tokens: [Token]) -> Bool {
        tokens.contains(["if"]) && isAction(tokens)
    }

    /// Whether a clause tells what to do. "If the fever comes back" and "if you see blood" do not.
    static func isAction(_ tokens: [Token]) -> Bool {
        tokens.indices.contains { index in
            actions.contains(tokens[index].plain)
                && !(index > 0 && happening.contains(tokens[index].plain) && subjects.contains(tokens[index - 1].plain))
        }
    }

    private static let happening: Set = ["back", "see", "stop"]
    private static let subjects: Set = ["comes", "doesn't", "he", "it", "she", "they", "you"]
}
