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
            for: TransactionRequest(transfer: .vaded, templates: templates), custom: [], identifiers: .counting())
    }

    @Test("there is always a transcript, and a note even when none was asked for")
    func defaults() {
        #expect(documents([]).map(\.templateID.rawValue) == ["transcript", "notes"])
    }

    @Test("unknown templates are notes, and integrations when the client says so")
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
}
