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
    /// Fixtures that operators have put into the world; nil if the value belongs to no world.
    package private(set) var own: WorldFixtures?

    package init(_ fixtures: FixtureSet, fixtureTranscriber: FakeTranscriber? = nil) {
        self.fixtures = fixtures
        self.fixtureTranscriber = fixtureTranscriber
        let names = fixtures.fixtures.compactMap(\.name)
        refusing = Dictionary(
            uniqueKeysWithValues: Fixture.Step.allCases.map { step in
                (step, Set(names.filter { fixtures[$0]?.refuses?.contains(step) == true }))
            })
    }

    /// Returns a copy for one world, with an empty ``WorldFixtures``.
    package func ofWorld(_ memory: WorldMemory) -> FixtureBehaviour {
        var behaviour = self
        behaviour.own = WorldFixtures(memory.share())
        return behaviour
    }

    /// Whether fixtures replace transcripts; false with a real recogniser.
    package var hasTexts: Bool { fixtureTranscriber != nil }

    /// The fixture of a name: the world's own, or else the server's; nil if there is none.
    package func fixture(_ name: String) -> Fixture? { own?[name] ?? fixtures[name] }

    /// Names of the fixtures that a transaction can ask for, sorted.
    package var names: [String] {
        Set(fixtures.fixtures.compactMap(\.name)).union(own?.names ?? []).sorted()
    }

    /// Whether operators have put fixtures into the world, which may apply to transactions that name none.
    var assigns: Bool { own?.isEmpty == false }

    /// The fixture that operators have chosen for a transaction of a client; nil for none.
    func assigned(to client: ClientID) -> String? { own?.assigned(to: client.rawValue) }

    /// Text of a transaction's notes, from its fixture; nil if the note writer writes them.
    func note(of request: TransactionRequest) -> String? {
        guard fixtureTranscriber != nil else { return nil }
        return request.fixture.flatMap(fixture)?.note
    }

    /// Transcriber that knows the world's fixtures by the SHA-256 of the audio; nil without such.
    var transcriberByHash: (any Transcriber)? {
        guard let own, let fixtureTranscriber else { return nil }
        let hashed = own.hashed
        return hashed.isEmpty ? nil : fixtureTranscriber.adding(hashed)
    }

    /// Fails if a fixture refuses a step.
    /// - Parameter fixture: The fixture that the transaction named; nil for none.
    /// - Throws: ``ScribeError/refusedOnPurpose``.
    package func requirePermission(_ step: Fixture.Step, _ fixture: String?) throws(ScribeError) {
        guard let fixture, fixtures(refusing: step).contains(fixture) else { return }
        throw .refusedOnPurpose
    }

    /// The names of the fixtures that refuse a step, for writes that check them in their SQL transaction.
    package func fixtures(refusing step: Fixture.Step) -> Set<String> {
        let shipped = refusing[step] ?? []
        return own.map { shipped.subtracting($0.names).union($0.names(refusing: step)) } ?? shipped
    }

    /// The time after commit for which the results of a transaction are held back, in seconds; nil for none.
    func delay(of request: TransactionRequest) -> Double? {
        guard fixtureTranscriber != nil, let fixture = request.fixture else { return nil }
        return self.fixture(fixture)?.delay
    }

    /// The transcriber for transactions with a fixture, in place of the server's recogniser; nil with a real
    /// recogniser.
    func transcriber(_ fixture: String) -> (any Transcriber)? { fixtureTranscriber?.withFixture(self.fixture(fixture)) }
}
