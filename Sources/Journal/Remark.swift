import Basics

/// Remark on a part of a request or of its answer: the part has no effect here, though the vendor's cloud would heed or
/// refuse it, or it does not fit the contract, `openapi/scribe.yaml`.
package struct Remark: Hashable, Sendable {
    /// Name of a parameter, header or field, place in the body, or empty for the whole. It has no value, and of bodies
    /// documented names only.
    package let place: String
    /// Problem as a sentence without its subject, and without any value that was sent: "is missing".
    package let problem: String

    package init(_ place: String, _ problem: String) {
        self.place = place
        self.problem = problem
    }

    /// Same remark, about a part of what is called `name`.
    package func inside(_ name: String) -> Remark { Remark(place.isEmpty ? name : "\(name).\(place)", problem) }

    /// Same remark, about the answer, which is no fault of the client's.
    package var ofAnswer: Remark { inside(Self.answer) }

    private static let answer = "answer"

    package var isOfAnswer: Bool { place == Self.answer || place.hasPrefix("\(Self.answer).") }

    /// One sentence.
    package var text: String { place.isEmpty ? "the request \(problem)" : "'\(place)' \(problem)" }
}

extension JournalRecord {
    /// Notes remarks on the exchange.
    package func note(_ remarks: [Remark], in list: WritableKeyPath<Exchange, [Remark]>) {
        update { exchange in
            exchange[keyPath: list] += remarks
            return remarks.total { $0.place.utf8.count + $0.problem.utf8.count + 32 }
        }
    }
}
