package import Engines
package import ScribeDomain

/// What users make a server do on purpose, to see what their client makes of it. Asked in one place of each request's
/// way, and the only thing between the use cases and a fixture.
package struct TestBench: Sendable {
    private let fixtures: FixtureSet
    /// Plays fixtures; nil where a real recogniser listens, which nobody can be made to say anything.
    private let player: FakeTranscriber?
    /// The names of the fixtures that refuse a step.
    private let refusing: [Fixture.Step: Set<String>]

    package init(_ fixtures: FixtureSet, player: FakeTranscriber? = nil) {
        self.fixtures = fixtures
        self.player = player
        let names = fixtures.fixtures.compactMap(\.name)
        refusing = Dictionary(
            uniqueKeysWithValues: Fixture.Step.allCases.map { step in
                (step, Set(names.filter { fixtures[$0]?.refuses?.contains(step) == true }))
            })
    }

    /// A bench on which nothing happens but what is asked for.
    package static let idle = TestBench(FixtureSet(consultation: [:], fixtures: []))

    /// - Parameter fixture: the name that the transaction has asked for.
    /// - Throws: ``ScribeError/refusedOnPurpose``.
    package func permit(_ step: Fixture.Step, _ fixture: String?) throws(ScribeError) {
        guard let fixture, fixtures(refusing: step).contains(fixture) else { return }
        throw .refusedOnPurpose
    }

    /// The names of the fixtures that refuse a step, for writes that decide it together with the rest.
    package func fixtures(refusing step: Fixture.Step) -> Set<String> { refusing[step] ?? [] }

    /// How long after commit the results of a transaction are held back, in seconds; nil for not at all.
    func delay(of request: TransactionRequest) -> Double? {
        guard player != nil, let fixture = request.fixture else { return nil }
        return fixtures[fixture]?.delay
    }

    /// Who transcribes in place of the server's recogniser for a transaction that has asked for a fixture; nil for nobody.
    func transcriber(_ fixture: String) -> (any Transcriber)? { player?.playing(fixtures[fixture]) }
}
