import Foundation
import ScribeDomain
import Testing

struct TemplateSectionTests {
    func section(_ title: String, _ summary: String = "") -> TemplateSection {
        TemplateSection(id: .init("s"), title: title, summary: summary, style: .bullets, example: "")
    }

    @Test(
        "the words of a custom section's heading decide which facts the section gets",
        arguments: [
            ("Known allergies", [ClinicalFact.Kind.allergy]), ("Plan", [.medication, .advice, .followUp]),
            ("Vitals", [.examination]), ("Poetry", []),
            ("Subjective", [.complaint, .presentIllness, .negative, .history]),
            ("History of present illness", [.complaint, .presentIllness, .negative]),
            ("Review of systems", [.negative]),
        ]
    )
    func facts(title: String, kinds: [ClinicalFact.Kind]) {
        #expect(section(title).facts == kinds)
    }

    @Test("a custom template leaves deleted sections out, and uses the default layout if it has none")
    func layout() {
        let fallback = Template(
            id: .init("f"), name: "F", format: .markdown, bucket: .custom,
            sections: [.init(title: "All", facts: [.complaint])])
        let own = CustomTemplate(id: .init("t"), title: "T", summary: nil, sectionIDs: [.init("s"), .init("gone")])
        #expect(
            own.template(with: [.init("s"): section("Advice")], fallback: fallback).sections.map(\.title) == ["Advice"])
        #expect(own.template(with: [:], fallback: fallback).sections.map(\.title) == ["All"])
    }
}
