import Foundation
import ScribeDomain
import Testing

struct TemplateSectionTests {
    func section(_ title: String, _ summary: String = "", example: String = "") -> TemplateSection {
        TemplateSection(id: .init("s"), title: title, summary: summary, style: .bullets, example: example)
    }

    @Test(
        "the words of a custom section's heading decide which facts the section gets",
        arguments: [
            ("Known allergies", [ClinicalFact.Kind.allergy]), ("Plan", [.medication, .advice, .followUp]),
            ("Vitals", [.vital]), ("Poetry", []), ("Explanation", []), ("Physical examination", [.examination]),
            ("Subjective", [.complaint, .presentIllness, .negative, .history]),
            ("History of present illness", [.complaint, .presentIllness, .negative]),
            ("Review of systems", [.negative]), ("Medical history", [.history]),
            ("Family history", [.familyHistory]), ("Past surgical history", [.medicalHistory, .surgicalHistory]),
            ("Lab results", [.result]), ("Safety netting", [.returnPrecaution]),
        ]
    )
    func facts(title: String, kinds: [ClinicalFact.Kind]) {
        #expect(section(title).facts == kinds)
    }

    @Test(
        "a description adds kinds of facts, and takes away those after 'without'",
        arguments: [
            ("Remarks", "Allergies and vital signs.", [ClinicalFact.Kind.allergy, .vital]),
            ("Plan", "What to do, without follow-up.", [.medication, .advice]),
            ("History", "Leave out the family history.", [.medicalHistory, .surgicalHistory, .socialHistory]),
            ("Plan", "Write 'none' if there is no follow-up.", [.medication, .advice, .followUp]),
        ] as [(String, String, [ClinicalFact.Kind])])
    func description(title: String, summary: String, kinds: [ClinicalFact.Kind]) {
        #expect(section(title, summary).facts == kinds)
    }

    @Test("an example decides where neither title nor description does")
    func example() {
        #expect(section("Box 3", example: "Blood pressure 130/80").facts == [.vital])
        #expect(section("Box 4", example: "Metformin 500 mg twice a day").facts == [.medication])
        #expect(section("Allergies", example: "Metformin 500 mg twice a day").facts == [.allergy])
    }

    @Test(
        "an example that is a list asks for bullets",
        arguments: [
            ("", TemplateSection.Style.paragraph), ("The patient reports fever.", .paragraph), ("- fever", .bullets),
            ("1. rest", .bullets), ("rest\nwater", .bullets), ("2 tablets a day", .paragraph),
        ])
    func style(example: String, style: TemplateSection.Style) {
        #expect(TemplateSection.Style(of: example) == style)
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
