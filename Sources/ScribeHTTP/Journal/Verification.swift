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
        fileprivate let misses: [Miss]
        fileprivate let expectation: String
    }

    /// An exchange that nearly matches.
    fileprivate struct Miss: Sendable {
        let shown: ShownExchange
        let differences: [(name: String, expected: String, found: String)]
    }

    /// Looks through the exchanges. Costs time for each of them: not on an event loop.
    /// - Parameter before: Exchanges that matched, and may have left the journal.
    /// - Throws: `CancellationError` once the caller's task is cancelled.
    package func outcome(
        among entries: [Journal.Numbered], _ index: JournalIndex, before: Set<Int> = []
    ) throws -> Outcome {
        var matched = before.subtracting(entries.map(\.number)).sorted()
        var misses: [Miss] = []
        for entry in entries {
            try Task.checkCancellation()
            let shown = index.shown(entry)
            var differences: [(name: String, expected: String, found: String)] = []
            for condition in match.conditions {
                guard let found = condition.difference(shown) else { continue }
                differences.append((condition.name, condition.expected, found))
            }
            if differences.isEmpty {
                matched.append(shown.number)
            } else if differences.count < match.conditions.count || match.conditions.count == 1 {
                misses.append(Miss(shown: shown, differences: differences))
            }
        }
        let nearest = misses.sorted {
            ($0.differences.count, -$0.shown.number) < ($1.differences.count, -$1.shown.number)
        }
        return Outcome(
            isMet: isMet(by: matched.count), matched: matched,
            misses: matched.count < least ? Array(nearest.prefix(Self.maxMisses)) : [],
            expectation: expectation(found: matched.count))
    }

    func isMet(by count: Int) -> Bool { count >= least && count <= most ?? .max }

    private func expectation(found: Int) -> String {
        let wanted =
            switch (least, most) {
            case (let least, nil): "at least \(least)"
            case (let least, let most?) where least == most: "\(least)"
            case (0, let most?): "at most \(most)"
            case (let least, let most?): "\(least) to \(most)"
            }
        return "Expected \(wanted) of \(match.text.isEmpty ? "all" : match.text), found \(found)"
    }
}

extension Verification.Outcome {
    /// One sentence.
    package var sentence: String { expectation }

    package var members: [JSON.Member] {
        [
            ("count", .integer(matched.count)), ("matched", .array(matched) { .integer($0) }),
            (
                "misses",
                .array(misses) { miss in
                    .object(
                        miss.shown.summary + [
                            (
                                "differences",
                                .array(miss.differences) {
                                    [
                                        "name": .string($0.name), "expected": .string($0.expected),
                                        "found": .string($0.found),
                                    ]
                                }
                            )
                        ])
                }
            ),
            ("diff", .string(diff)),
        ]
    }

    /// Expectation and near misses as a diff.
    private var diff: String {
        var lines = [expectation]
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
