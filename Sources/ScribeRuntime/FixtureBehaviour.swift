package import Engines
package import ScribeDomain

/// Failures, delays and transcripts that a transaction's `fixture:` value selects, so that users can test their
/// clients. Each request asks for them in one place, and use cases reach fixtures only through this type.
package struct FixtureBehaviour: Sendable {
    private let fixtures: FixtureSet
    /// The transcriber of fixtures; nil with a real recogniser, for which fixtures have neither texts nor delays.
    private let fixtureTranscriber: FakeTranscriber?
    /// The names of the fixtures that refuse a step.
    private let refusing: [Fixture.Step: Set<String>]

    package init(_ fixtures: FixtureSet, fixtureTranscriber: FakeTranscriber? = nil) {
        self.fixtures = fixtures
        self.fixtureTranscriber = fixtureTranscriber
        let names = fixtures.fixtures.compactMap(\.name)
        refusing = Dictionary(
            uniqueKeysWithValues: Fixture.Step.allCases.map { step in
                (step, Set(names.filter { fixtures[$0]?.refuses?.contains(step) == true }))
            })
    }

    /// A value without fixtures: it never fails, delays or replaces a transcript.
    package static let idle = FixtureBehaviour(FixtureSet(consultation: [:], fixtures: []))

    /// Fails if a fixture refuses a step.
    /// - Parameter fixture: The fixture that the transaction named; nil for none.
    /// - Throws: ``ScribeError/refusedOnPurpose``.
    package func requirePermission(_ step: Fixture.Step, _ fixture: String?) throws(ScribeError) {
        guard let fixture, fixtures(refusing: step).contains(fixture) else { return }
        throw .refusedOnPurpose
    }

    /// The names of the fixtures that refuse a step, for writes that check them in their SQL transaction.
    package func fixtures(refusing step: Fixture.Step) -> Set<String> { refusing[step] ?? [] }

    /// The time after commit for which the results of a transaction are held back, in seconds; nil for none.
    func delay(of request: TransactionRequest) -> Double? {
        guard fixtureTranscriber != nil, let fixture = request.fixture else { return nil }
        return fixtures[fixture]?.delay
    }

    /// The transcriber for transactions with a fixture, in place of the server's recogniser; nil with a real
    /// recogniser.
    func transcriber(_ fixture: String) -> (any Transcriber)? { fixtureTranscriber?.withFixture(fixtures[fixture]) }
}
