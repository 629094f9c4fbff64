import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime

struct ChangeSignalsTests {
    let key = Transaction.Key(business: .init("b"), id: .init("t"))

    @Test("a change between subscribing and waiting is not lost")
    func earlyChange() async throws {
        let signals = ChangeSignals()
        let changes = signals.changes(of: key)
        signals.post(key)
        try await firstOf(changes, limit: nil, clock: ManualClock().clock)
    }

    @Test("others' changes wake nobody, and a subscription ends with its reader")
    func others() async throws {
        let signals = ChangeSignals()
        let manual = ManualClock()
        do {
            let changes = signals.changes(of: key)
            #expect(signals.waiterCount == 1)
            async let wait: Void = firstOf(changes, limit: .seconds(5), clock: manual.clock)
            await manual.waitForSleepers()
            signals.post(Transaction.Key(business: .init("b2"), id: .init("t")))
            manual.advance(by: .seconds(5))
            try await wait
        }
        #expect(signals.waiterCount == 0)
    }

    @Test("a cancelled wait says so")
    func cancellation() async {
        let signals = ChangeSignals()
        let task = Task { [changes = signals.changes(of: key)] in
            try await firstOf(changes, limit: nil, clock: ManualClock().clock)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

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
