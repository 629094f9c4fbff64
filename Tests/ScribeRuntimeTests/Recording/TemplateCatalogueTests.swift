import Engines
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime

struct TemplateCatalogueTests {
    let catalogue = TemplateCatalogue([
        Template(id: .init("notes"), name: "Notes", format: .markdown, bucket: .custom, sections: []),
        Template(id: .init("emr"), name: "EMR", format: .ekaEMR, bucket: .integration, sections: []),
    ])

    func documents(_ templates: [TransactionRequest.RequestedTemplate]) -> [ResultDocument] {
        catalogue.documents(
            for: TransactionRequest(transfer: .vaded, templates: templates), custom: [],
            identifiers: WorldIdentifiers(.counting()))
    }

    @Test("a transaction without requested templates gets a transcript and the default note")
    func defaults() {
        #expect(documents([]).map(\.templateID.rawValue) == ["transcript", "notes"])
    }

    @Test("an unknown template id gives a note, or an integration if the client says so")
    func unknown() {
        let made = documents([
            .init(id: .init("mine"), name: "Mine"), .init(id: .init("his"), type: "integration"),
            .init(id: .init("emr")),
            .init(id: .init("mine")),
        ])
        #expect(made.map(\.kind) == [.transcript, .custom, .integration, .integration])
        #expect(made.map(\.name) == ["Transcript", "Mine", "his", "EMR"])
        #expect(made.map(\.format) == [.transcript, .markdown, .markdown, .ekaEMR])
        #expect(Set(made.map(\.id)).count == 4)
    }

    @Test(
        "an unknown template gets the sections of the known template that its name contains",
        arguments: [
            ("SOAP Notes", "Subjective"), ("soap note template", "Subjective"), ("Cardiology", "Complaints"),
            ("Notes", "Complaints"),
        ])
    func named(name: String, expected: String) {
        func template(_ name: String, _ section: String) -> Template {
            Template(
                id: TemplateID(name), name: name, format: .markdown, bucket: .custom,
                sections: [.init(title: section, facts: [.complaint])])
        }
        let catalogue = TemplateCatalogue([
            template("Clinical Notes", "Complaints"), template("SOAP Note", "Subjective"),
        ])
        let document = catalogue.document(for: .init(id: .init("0192"), name: name), [], WorldIdentifiers(.counting()))
        let written = catalogue.fallbackTemplate(for: document)
        #expect(written.sections.map(\.title) == [expected])
        #expect(written.format == .markdown && written.id == TemplateID("0192"))
    }

    @Test("a hidden template is found by its id and is not listed")
    func hidden() {
        let own = Template(id: .init("own"), name: "Own", format: .json, bucket: .custom, sections: [])
        let catalogue = catalogue.hiding([own])
        #expect(catalogue[own.id]?.name == "Own")
        #expect(!catalogue.offers(own.id))
        #expect(catalogue.templates.map(\.id) == self.catalogue.templates.map(\.id))
        #expect(catalogue.offers(catalogue.fallback.id))
    }
}
