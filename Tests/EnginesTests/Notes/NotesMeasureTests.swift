import Foundation
import ScribeDomain
import TestSupport
import Testing
import Yams

@testable import Engines

/// Consultations with what a note of them must have, written by somebody who has seen neither rules nor lexicon.
struct NotesMeasureTests {
    /// A consultation of `Tests/Notes`.
    private struct Consultation: Decodable {
        struct Expectation: Decodable {
            struct Medication: Decodable {
                let name: String
                let strength: String
                let frequency: String
                let duration: String
                let change: String
            }

            let medications: [Medication]?
            /// What each of the other fields must have, by the field's name.
            let fields: [String: [String]]

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Name.self)
                medications = try container.decodeIfPresent([Medication].self, forKey: Name(stringValue: "medications"))
                var fields: [String: [String]] = [:]
                for key in container.allKeys where key.stringValue != "medications" {
                    fields[key.stringValue] = try container.decode([String].self, forKey: key)
                }
                self.fields = fields
            }
        }

        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        let id: String
        let transcript: String
        let expect: Expectation
        /// What must not be told as the patient's own and present.
        let forbid: [String]?
    }

    /// How many of the expected items were found, and how many of the facts were expected.
    private struct Score {
        var found = 0
        var expected = 0
        var right = 0
        var facts = 0

        var recall: Double { Double(found) / Double(max(1, expected)) }
        var precision: Double { Double(right) / Double(max(1, facts)) }

        static func += (total: inout Self, part: Self) {
            total.found += part.found
            total.expected += part.expected
            total.right += part.right
            total.facts += part.facts
        }
    }

    /// The kinds of facts that are looked through for a field. What brought the patient in is part of the illness.
    private static let fields: [String: Set<ClinicalFact.Kind>] = [
        "chief_complaint": [.chiefComplaint, .complaint, .presentIllness],
        "history": [.chiefComplaint, .complaint, .presentIllness],
        "negatives": [.negative], "allergies": [.allergy], "medical_history": [.medicalHistory],
        "surgical_history": [.surgicalHistory], "family_history": [.familyHistory],
        "social_history": [.socialHistory], "vitals": [.vital], "examination": [.examination],
        "investigations": [.investigation], "results": [.result], "assessment": [.assessment], "plan": [.plan],
        "referrals": [.referral], "advice": [.advice], "return_precautions": [.returnPrecaution],
        "follow_up": [.followUp],
    ]

    /// What each third of the consultations reaches at least, and how often something forbidden may be told.
    private static let floors: [String: (recall: Double, precision: Double, violations: Int)] = [
        "practice": (0.70, 0.70, 4), "check": (0.60, 0.65, 8), "unseen": (0.50, 0.55, 10),
    ]

    @Test("notes of the Hindi that the fake transcriber says contain the facts that are expected of them")
    func hindi() throws {
        let file = projectFile("Tests/Notes/hindi.yaml")
        var score = Score()
        for consultation in try YAMLDecoder().decode(
            [Consultation].self, from: String(contentsOf: file, encoding: .utf8))
        {
            let facts = FactExtraction.facts(in: consultation.transcript)
            for (field, kinds) in Self.fields {
                score += Self.score(field, consultation.expect.fields, facts.filter { kinds.contains($0.kind) })
            }
            score += Self.score(consultation.expect.medications ?? [], facts)
        }
        print("notes, hindi: \(Self.told(score))")
        #expect(score.expected == 11)
        #expect(score.found == 11)
    }

    @Test(
        "notes of invented visits contain the facts that are expected of them",
        arguments: ["practice", "check", "unseen"])
    func measure(part: String) throws {
        let file = projectFile("Tests/Notes/\(part).yaml")
        let transactions = try YAMLDecoder().decode(
            [Consultation].self, from: String(contentsOf: file, encoding: .utf8))
        #expect(transactions.count == 20)
        var scores: [String: Score] = [:]
        var violations = 0
        for consultation in transactions {
            let facts = FactExtraction.facts(in: consultation.transcript)
            for (field, kinds) in Self.fields {
                let score = Self.score(field, consultation.expect.fields, facts.filter { kinds.contains($0.kind) })
                scores[field, default: Score()] += score
            }
            scores["medications", default: Score()] += Self.score(consultation.expect.medications ?? [], facts)
            violations += (consultation.forbid ?? []).map { Self.violations(of: $0, facts) }.reduce(0, +)
        }
        var all = Score()
        for (field, score) in scores.sorted(by: { $0.key < $1.key }) {
            all += score
            print("notes, \(part), \(field): \(Self.told(score))")
        }
        print("notes, \(part), all: \(Self.told(all)), \(violations) told that must not be")
        let floor = try #require(Self.floors[part])
        #expect(all.recall >= floor.recall)
        #expect(all.precision >= floor.precision)
        #expect(violations <= floor.violations)
    }

    private static func told(_ score: Score) -> String {
        "\(score.found) of \(score.expected) found, \(score.right) of \(score.facts) facts expected"
    }

    /// An item is found in a fact that has two thirds of its words; short ones need all. A fact is expected if it has
    /// half of an item's words.
    private static func score(_ field: String, _ expected: [String: [String]], _ facts: [ClinicalFact]) -> Score {
        let items = (expected[field] ?? []).map(words)
        let said = facts.map { words($0.text) }
        var score = Score()
        score.expected = items.count
        score.found =
            items.filter { item in
                let needed = item.count <= 2 ? item.count : (item.count * 2 + 2) / 3
                return said.contains { $0.intersection(item).count >= needed }
            }.count
        // Counted once, with the history.
        guard field != "chief_complaint" else { return score }
        let others = field == "history" ? (expected["chief_complaint"] ?? []).map(words) : []
        score.facts = said.count
        score.right =
            said.filter { words in
                (items + others).contains { words.intersection($0).count >= max(1, ($0.count + 1) / 2) }
            }.count
        return score
    }

    private static func score(
        _ expected: [Consultation.Expectation.Medication], _ facts: [ClinicalFact]
    ) -> Score {
        let said = facts.filter { $0.kind == .medication }.map { words($0.text) }
        let found = expected.filter { item in said.contains { $0.isSuperset(of: words(item.name)) } }.count
        return Score(found: found, expected: expected.count, right: min(found, said.count), facts: said.count)
    }

    private static let own: Set<ClinicalFact.Kind> = [
        .chiefComplaint, .complaint, .presentIllness, .assessment, .medication, .examination, .result,
    ]
    private static let denials: Set = [
        "no", "not", "denies", "never", "without", "negative", "none", "unlikely", "cannot",
    ]

    private static func violations(of forbidden: String, _ facts: [ClinicalFact]) -> Int {
        let forbidden = words(forbidden)
        return facts.filter { fact in
            own.contains(fact.kind) && words(fact.text).isSuperset(of: forbidden)
                && denials.isDisjoint(with: fact.text.lowercased().split(separator: " ").map(String.init))
        }.count
    }

    private static let idle: Set = [
        "a", "an", "the", "of", "in", "on", "at", "for", "to", "and", "or", "with", "is", "are", "was", "has", "have",
        "had", "been", "by", "it", "my", "your", "his", "her", "be", "this", "that",
    ]
    private static let numbers: [String: String] = [
        "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
        "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30",
        "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    ]

    /// Words that can be compared: without endings of the plural, numbers as digits.
    private static func words(_ text: String) -> Set<String> {
        var words: Set<String> = []
        for part in text.lowercased().replacing("’", with: "'").split(whereSeparator: { " /,;:()-–\"".contains($0) }) {
            var word = String(part).trimmingPunctuation()
            while word.hasSuffix(".") { word.removeLast() }
            if word.hasSuffix("'s") { word.removeLast(2) }
            word = numbers[word] ?? word
            guard !word.isEmpty, !idle.contains(word) else { continue }
            if ["milligram", "milligrams"].contains(word) { word = "mg" }
            if word.count > 3, word.hasSuffix("s"), !word.hasSuffix("ss") { word.removeLast() }
            words.insert(word)
        }
        return words
    }
}
