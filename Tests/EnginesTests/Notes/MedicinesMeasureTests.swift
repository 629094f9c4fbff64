import Foundation
import ScribeDomain
import TestSupport
import Testing
import Yams

@testable import Engines

/// The medicines of invented visits, against the list that a clinician would write. A wrong one is worse than a
/// missing one.
struct MedicinesMeasureTests {
    /// A visit of `Tests/Notes/medicines.yaml`.
    private struct Visit: Decodable {
        struct Medicine: Decodable {
            let name: String
            let dose: String
            let action: String
        }

        let id: String
        let split: String
        /// The words; nil for a visit of another file.
        let transcript: String?
        let medicines: [Medicine]
    }

    private struct Transcript: Decodable {
        let id: String
        let transcript: String
    }

    /// How many visits each part has, and how many of their medicines may have a wrong name, dose or action.
    private static let parts: [String: (visits: Int, wrong: Int, missing: Int)] = [
        "read": (12, 0, 4), "earlier": (12, 0, 3), "unread": (6, 0, 6), "later": (6, 4, 10),
    ]

    private static func decoded<Element: Decodable>(_ file: String, as type: [Element].Type) throws -> [Element] {
        try YAMLDecoder().decode(
            type, from: String(contentsOf: projectFile("Tests/Notes/\(file).yaml"), encoding: .utf8))
    }

    @Test(
        "notes of invented visits have no wrong medicine, dose or action",
        arguments: ["read", "earlier", "unread", "later"])
    func measure(part: String) throws {
        let known = try (Self.decoded("practice", as: [Transcript].self) + Self.decoded("check", as: [Transcript].self))
            .reduce(into: [:]) { $0[$1.id] = $1.transcript }
        let visits = try Self.decoded("medicines", as: [Visit].self).filter { $0.split == part }
        var wrong: [String] = []
        var missing: [String] = []
        for visit in visits {
            let transcript = try #require(visit.transcript ?? known[visit.id])
            var expected = visit.medicines
            for fact in FactExtraction.facts(in: transcript) where fact.kind == .medication {
                let name = Self.words(fact.details["name"] ?? fact.text)
                let index = expected.firstIndex { medicine in
                    Self.words(medicine.name).isSubset(of: name) || name.isSubset(of: Self.words(medicine.name))
                }
                let medicine = index.map { expected.remove(at: $0) }
                if medicine.map({ Self.isWrong(fact, of: $0) }) ?? true { wrong.append("\(visit.id): \(fact.text)") }
            }
            missing += expected.map { "\(visit.id): \($0.name)" }
        }
        print("medicines, \(part): wrong \(wrong), missing \(missing)")
        let limits = try #require(Self.parts[part])
        #expect(visits.count == limits.visits)
        #expect(wrong.count <= limits.wrong)
        #expect(missing.count <= limits.missing)
    }

    /// Whether a dose or an action is another than the expected one. A missing one is not, but for "stop".
    private static func isWrong(_ fact: ClinicalFact, of medicine: Visit.Medicine) -> Bool {
        if let dose = fact.details["dose"], dose.lowercased() != medicine.dose.lowercased() { return true }
        guard let change = fact.details["change"] else { return medicine.action == "stopped" }
        return change != medicine.action && !(change == "continued" && medicine.action == "taken")
    }

    private static func words(_ text: String) -> Set<Substring> { Set(text.lowercased()[...].split(separator: " ")) }
}
