package import Basics
import HTTPTypes
package import Journal
package import ScribeDomain
import ScribeRuntime

/// Expectation of how many exchanges of the journal match.
package struct Verification: Sendable {
    /// Most near misses of an answer.
    private static let maxMisses = 3

    package let match: JournalMatch
    private let least: Int
    private let most: Int?

    /// Members of a call, beside its conditions.
    package static let names = ["times", "at_least", "at_most"]

    /// Reads an expectation: at least one match, unless the call says otherwise.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    package init(
        _ members: [String: JSONValue], by reader: JournalMatchReader, more: [String] = []
    ) throws(ScribeError) {
        match = try reader.match(members, more: Self.names + more)
        let fields = JSONFields(members, readsTexts: true)
        let exact = try fields.integer("times", from: 0)
        let (low, high) = (try fields.integer("at_least", from: 0), try fields.integer("at_most", from: 0))
        guard exact == nil || low == nil && high == nil else {
            throw fields.problem("times", "excludes 'at_least' and 'at_most'")
        }
        guard low ?? 0 <= high ?? .max else { throw fields.problem("at_least", "is more than 'at_most'") }
        least = exact ?? low ?? (high == nil ? 1 : 0)
        most = exact ?? high
    }

    /// Result of an expectation.
    package struct Outcome: Sendable {
        package let isMet: Bool
        package let matched: [Int]
        /// Exchanges of which the journal has not kept enough.
        fileprivate let unknown: [Unknown]
        fileprivate let misses: [Miss]
        /// One sentence.
        package let sentence: String
    }

    /// An exchange that nearly matches.
    fileprivate struct Miss: Sendable {
        let shown: ShownExchange
        let differences: [(name: String, expected: String, found: String)]
        /// Number of conditions that do not hold, or of which that is not known.
        let distance: Int
    }

    /// An exchange that matches unless a condition fails whose facts were not kept.
    fileprivate struct Unknown: Sendable {
        let number: Int
        let name: String
        let why: String
    }

    /// Numbers of exchanges by their verdict. An exchange that has left the journal keeps its last one.
    struct Known: Sendable {
        private(set) var matched: Set<Int> = []
        private(set) var unknown: Set<Int> = []

        mutating func note(_ verdict: MatchVerdict, of number: Int) {
            matched.remove(number)
            unknown.remove(number)
            switch verdict {
            case .holds: matched.insert(number)
            case .unknown: unknown.insert(number)
            case .fails: break
            }
        }
    }

    /// Looks through the exchanges. Costs time for each of them: not on an event loop.
    /// - Parameter known: Verdicts so far, of exchanges that may have left the journal.
    /// - Throws: `CancellationError` once the caller's task is cancelled.
    package func outcome(in journal: Journal, _ index: JournalIndex) throws -> Outcome {
        try outcome(in: journal, index, Known())
    }

    func outcome(in journal: Journal, _ index: JournalIndex, _ known: Known) throws -> Outcome {
        var known = known
        var (unknown, misses): ([Unknown], [Miss]) = ([], [])
        for entry in journal.entries {
            try Task.checkCancellation()
            let shown = index.shown(entry)
            var differences: [(name: String, expected: String, found: String)] = []
            var verdict = MatchVerdict.holds
            var distance = match.conditions.count
            for condition in match.conditions {
                let one = condition.verdict(shown)
                verdict = verdict.and(one)
                switch one {
                case .holds: distance -= 1
                case .fails(let found): differences.append((condition.name, condition.expected, found))
                case .unknown(let why):
                    if differences.isEmpty, unknown.last?.number != shown.number {
                        unknown.append(Unknown(number: shown.number, name: condition.name, why: why))
                    }
                }
            }
            known.note(verdict, of: shown.number)
            if case .fails = verdict {
                unknown.removeAll { $0.number == shown.number }
                if distance < match.conditions.count || match.conditions.count == 1 {
                    misses.append(Miss(shown: shown, differences: differences, distance: distance))
                }
            }
        }
        let gone = match.gone(from: journal)
        let nearest = misses.sorted { $0.rank < $1.rank }
        return Outcome(
            isMet: isMet(by: known, gone: gone), matched: known.matched.sorted(), unknown: unknown,
            misses: known.matched.count < least ? Array(nearest.prefix(Self.maxMisses)) : [],
            sentence: sentence(known, unknown, gone: gone))
    }

    /// Whether the expectation is met for sure.
    /// - Parameter gone: Number of exchanges that may have matched, and have left the journal.
    func isMet(by known: Known, gone: Int) -> Bool {
        known.matched.count >= least
            && most.map { known.matched.count + known.unknown.count <= $0 && gone == 0 } ?? true
    }

    private func sentence(_ known: Known, _ unknown: [Unknown], gone: Int) -> String {
        let found = known.matched.count
        let wanted =
            switch (least, most) {
            case (let least, nil): "at least \(least)"
            case (let least, let most?) where least == most: "\(least)"
            case (0, let most?): "at most \(most)"
            case (let least, let most?): "\(least) to \(most)"
            }
        var text = "Expected \(wanted) of \(match.text.isEmpty ? "all" : match.text), found \(found)"
        guard !isMet(by: known, gone: gone), found <= most ?? .max else { return text }
        if let first = unknown.first {
            text +=
                "; of \(known.unknown.count) more it cannot be known: of \(first.number), \(first.name), \(first.why)"
        }
        if gone > 0 {
            text += """
                ; \(gone) earlier exchanges are gone from the journal, and may have matched: \
                journal-max and journal-max-bytes keep more
                """
        }
        return text
    }
}

extension Verification.Miss {
    /// The less the distance and the newer, the nearer. Attempts at deliveries come last.
    fileprivate var rank: (Int, Int, Int) {
        (distance, shown.exchange.kind == .delivery ? 1 : 0, -shown.number)
    }

    fileprivate var json: JSON {
        let differences = JSON.array(differences) {
            ["name": .string($0.name), "expected": .string($0.expected), "found": .string($0.found)]
        }
        return shown.summary.adding(["differences": differences])
    }
}

extension Verification.Outcome {
    package var json: JSON {
        [
            "count": .integer(matched.count), "matched": .array(matched) { .integer($0) },
            "unknown": .array(unknown) {
                ["id": .integer($0.number), "name": .string($0.name), "problem": .string($0.why)]
            },
            "misses": .array(misses, \.json), "diff": .string(diff),
        ]
    }

    /// Expectation and near misses as a diff.
    private var diff: String {
        var lines = [sentence]
        if !matched.isEmpty { lines.append("matched: " + matched.map(String.init).joined(separator: ", ")) }
        for miss in misses {
            let exchange = miss.shown
            let place = exchange.path ?? exchange.exchange.route ?? "-"
            lines.append("--- expected")
            lines.append("+++ \(exchange.number): \(exchange.request.method) \(place)")
            for difference in miss.differences {
                lines.append("-\(difference.name)=\(difference.expected)")
                lines.append("+\(difference.name)=\(difference.found)")
            }
        }
        return lines.joined(separator: "\n")
    }
}
