/// Splits a question into the topics that it asks about.
enum Topics {
    private static let openings = Lexicon.set("questions/openings")
    private static let ends = Lexicon.set("questions/ends")
    private static let open = Lexicon.set("questions/open")

    private static let troubles: Set = ["problems", "problem", "issues", "trouble"]

    static func asked(in tokens: [Token]) -> [[Token]] {
        guard let first = tokens.first(where: { !["and", "so", "okay", "right", "now", "but"].contains($0.plain) })
        else { return [] }
        if open.contains(first.plain), !tokens.contains(["allergic"]),
            !(first.plain == "what" || first.plain == "how") || !tokens.contains(["about"])
        {
            return []
        }
        var topics: [[Token]] = []
        var current: [Token] = []
        // "Before I prescribe something, are you allergic to anything?"
        let tokens = tokens.firstIndex { $0.plain == "allergic" }.map { Array(tokens[$0...]) } ?? tokens
        func close() {
            let topic = trimmed(current)
            current = []
            guard !topic.isEmpty, topic.count <= 9 else { return }
            topics.append(topic)
        }
        for token in tokens {
            if ["or", "and"].contains(token.plain) {
                close()
                continue
            }
            current.append(token)
            if token.pause > .none { close() }
        }
        close()
        // "Any problems with the lungs or the heart?": an organ alone cannot be denied.
        if let start = tokens.indices.dropLast().first(where: {
            troubles.contains(tokens[$0].plain) && tokens[$0 + 1].plain == "with"
        }) {
            let trouble = Array(tokens[start...(start + 1)])
            topics = topics.map { topic in
                !Terms(topic).has([.symptom, .condition, .procedure, .medication, .social]) && topic.count < 3
                    ? trouble + topic : topic
            }
        }
        // "tenderness in the arm or jaw": a topic without a term of its own does not count beside others with one.
        let named = topics.filter {
            Terms($0).has([
                .symptom, .bodyPart, .bodyComplaint, .condition, .social, .allergen, .procedure, .medication, .relative,
            ])
        }
        return named.isEmpty
            ? Array(topics.prefix(3)) : topics.filter { topic in topic.count <= 6 || named.contains { $0 == topic } }
    }

    private static func trimmed(_ tokens: [Token]) -> [Token] {
        var rest = tokens[...]
        while let first = rest.first, openings.contains(first.plain) { rest.removeFirst() }
        while let last = rest.last, ends.contains(last.plain) { rest.removeLast() }
        return Array(rest)
    }
}
