import ScribeDomain

/// Word pattern of an emergency or an urgent condition.
///
/// Words are separated by spaces; `|` separates alternatives, and `~` stands for up to four words of any kind:
/// `throat ~ swelling|closing`. Words on both sides of `&` stand close together in any order: `rash & purple|spots`.
struct RedFlag: Sendable {
    private enum Element {
        case word(Set<String>)
        case gap
    }

    /// Most words that `~` stands for.
    private static let longestGap = 4
    /// Most words from the first to the last word of an unordered pattern.
    private static let widest = 11
    private static let negations: Set = [
        "not", "no", "isn't", "aren't", "hasn't", "haven't", "doesn't", "don't", "won't", "nahi", "nahin", "नहीं",
    ]

    let level: Urgency.Level
    private let elements: [Element]
    /// Word groups of an unordered pattern, of which each must match one word; empty for an ordered pattern.
    private let together: [Set<String>]
    /// Words with which a match can begin.
    let beginnings: Set<String>
    /// Whether the pattern itself contains a denial: "not breathing".
    let denies: Bool

    init(_ pattern: String, _ level: Urgency.Level) {
        self.level = level
        denies = pattern.split { " |".contains($0) }.contains { Self.negations.contains(String($0)) }
        let parts = pattern.split(separator: " & ").map { Set($0.split(separator: "|").map(String.init)) }
        guard parts.count == 1 else {
            together = parts
            elements = []
            beginnings = parts.reduce(into: []) { $0.formUnion($1) }
            return
        }
        together = []
        elements = pattern.split(separator: " ").map { part in
            part == "~" ? .gap : .word(Set(part.split(separator: "|").map(String.init)))
        }
        beginnings =
            switch elements.first {
            case .word(let words): words
            case .gap, nil: []
            }
    }

    /// End of a match that begins at `position`; nil without a match.
    func end(in words: [String], at position: Int, before limit: Int) -> Int? {
        guard !together.isEmpty else { return end(elements[...], words, position, limit) }
        var last = position
        for part in together {
            guard let next = (position..<min(limit, position + Self.widest)).first(where: { part.contains(words[$0]) })
            else { return nil }
            last = max(last, next)
        }
        return last + 1
    }

    private func end(_ rest: ArraySlice<Element>, _ words: [String], _ position: Int, _ limit: Int) -> Int? {
        guard let element = rest.first else { return position }
        switch element {
        case .word(let alternatives):
            guard position < limit, alternatives.contains(words[position]) else { return nil }
            return end(rest.dropFirst(), words, position + 1, limit)
        case .gap:
            for skipped in 0...Self.longestGap {
                if let end = end(rest.dropFirst(), words, position + skipped, limit) { return end }
            }
            return nil
        }
    }
}

extension RedFlag {
    /// Red flags by the words with which a match can begin.
    static let byBeginning: [String: [RedFlag]] = {
        var found: [String: [RedFlag]] = [:]
        for flag in (emergencies + signs).map({ RedFlag($0, .emergency) }) + urgencies.map({ RedFlag($0, .urgent) }) {
            for word in flag.beginnings { found[word, default: []].append(flag) }
        }
        return found
    }()

    /// Signs of ``causes`` by the words with which a match can begin, each with the index of its cause.
    static let besideCauses: [String: [(cause: Int, flag: RedFlag)]] = {
        var found: [String: [(cause: Int, flag: RedFlag)]] = [:]
        for (index, cause) in causes.enumerated() {
            for sign in cause.signs {
                let flag = RedFlag(sign, .emergency)
                for word in flag.beginnings { found[word, default: []].append((index, flag)) }
            }
        }
        return found
    }()

    /// Words with which a match of any red flag can begin.
    static let beginnings = Set(byBeginning.keys).union(besideCauses.keys)
}
