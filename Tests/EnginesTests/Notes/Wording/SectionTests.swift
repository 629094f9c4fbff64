import ScribeDomain
import Testing

@testable import Engines

/// The stage between facts and sentences: the sections of a template.
struct SectionTests {
    private let facts = [
        ClinicalFact(.chiefComplaint, "dry cough"), ClinicalFact(.familyHistory, "father had asthma"),
        ClinicalFact(.medication, "ramipril 5 mg"),
    ]

    private func filled(_ sections: [Template.Section]) -> [[String]] {
        Template(id: .init("t"), name: "Note", format: .markdown, bucket: .custom, sections: sections)
            .filled(with: facts).map { $0.facts.map(\.text) }
    }

    @Test("a section takes the facts of its kinds, in spoken order, and may stay empty")
    func kinds() {
        let sections: [Template.Section] = [
            .init(title: "All", facts: [.medication, .chiefComplaint]), .init(title: "Plan", facts: [.plan]),
        ]
        #expect(filled(sections) == [["dry cough", "ramipril 5 mg"], []])
    }

    @Test("a wider kind takes a fact only if no section has the fact's own kind")
    func wider() {
        #expect(filled([.init(title: "History", facts: [.history])]) == [["father had asthma"]])
        let both: [Template.Section] = [
            .init(title: "History", facts: [.history]), .init(title: "Family", facts: [.familyHistory]),
        ]
        #expect(filled(both) == [[], ["father had asthma"]])
    }
}
