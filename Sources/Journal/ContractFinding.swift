import Basics

/// Part of a request that does not fit the contract, `openapi/scribe.yaml`.
package struct ContractFinding: Hashable, Sendable {
    /// Name of a parameter, place in the body, or empty for the whole. It has documented names only.
    package let place: String
    /// Problem as a sentence without its subject, and without any value that was sent: "is missing".
    package let problem: String

    package init(_ place: String, _ problem: String) {
        self.place = place
        self.problem = problem
    }

    /// A finding about the answer, which is no fault of the client's.
    package init(answer place: String, _ problem: String) {
        self.init(place.isEmpty ? Self.answer : "\(Self.answer).\(place)", problem)
    }

    private static let answer = "answer"

    package var isOfAnswer: Bool { place == Self.answer || place.hasPrefix("\(Self.answer).") }

    /// One sentence.
    package var text: String { place.isEmpty ? "the request \(problem)" : "'\(place)' \(problem)" }
}

extension JournalRecord {
    /// Notes parts of the request that do not fit the contract.
    package func note(_ findings: [ContractFinding]) {
        update { exchange in
            exchange.findings += findings
            return findings.total { $0.place.utf8.count + $0.problem.utf8.count + 32 }
        }
    }
}
