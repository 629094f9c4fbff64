import Basics
import Crypto
import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// Utterances labelled by somebody who has not seen the classifier.
struct UrgencyMeasureTests {
    private static let parts = Set(UrgencyTraining.utterances.map(\.part)).sorted()

    @Test(
        "the urgency classifier is right in 95 of 100 utterances, and misses no emergency of those that it knows",
        arguments: parts)
    func measure(part: String) {
        let utterances = UrgencyTraining.utterances.filter { $0.part == part }
        #expect(utterances.count >= 40)
        let wrong = utterances.filter { (UrgencyClassifier.level(of: $0.text) == .emergency) != $0.urgent }
        let missed = wrong.filter(\.urgent)
        let right = utterances.count - wrong.count
        print("urgency, \(part): \(right) of \(utterances.count) right, \(missed.count) missed")
        for each in wrong where !UrgencyTraining.held.contains(part) {
            print(each.urgent ? "  missed:" : "  false alarm:", each.text.debugDescription)
        }
        #expect(wrong.count * 20 <= utterances.count)
        #expect(!UrgencyTraining.certain.contains(part) || missed.isEmpty)
    }

    @Test("the weights are those that the utterances give")
    func weights() throws {
        let file = projectFile("Sources/Engines/Conversations/urgency.txt")
        let utterances = UrgencyTraining.utterances.filter { !UrgencyTraining.held.contains($0.part) }
        let text = utterances.map { "\($0.urgent) \($0.text)" }.joined(separator: "\n")
        let first = "# Learned from \(utterances.count) utterances, \(Hex.encode(SHA256.hash(data: Data(text.utf8))))"
        // Learned anew, because weights also depend on how a text is read, and not on the utterances alone.
        let learned = "\(first)\n\(UrgencyTraining(utterances).learned())"
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] != nil {
            try Data(learned.utf8).write(to: file)
        }
        let shipped = try String(contentsOf: file, encoding: .utf8)
        let differences = Set(learned.split(separator: "\n")).symmetricDifference(shipped.split(separator: "\n"))
        #expect(
            differences.sorted().prefix(10) == [],
            "run SCRIBE_WRITE_PAGES=1 swift test --filter UrgencyMeasureTests, and build again")
        #expect(learned.utf8.count == shipped.utf8.count)
    }
}
