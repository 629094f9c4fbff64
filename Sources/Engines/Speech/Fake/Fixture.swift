package import ScribeDomain

/// What the fake transcriber says.
package struct FixtureSet: Sendable {
    /// Passages of one consultation by language, `en` at least.
    package var consultation: [String: [String]]
    package var fixtures: [Fixture]

    package init(consultation: [String: [String]], fixtures: [Fixture]) {
        self.consultation = consultation
        self.fixtures = fixtures
    }

    /// The fixture of that name.
    package subscript(name: String) -> Fixture? { fixtures.first { $0.name == name } }

    /// This set with that one's entries in front, so that a user's file can replace what is shipped.
    package func overridden(by other: FixtureSet) -> FixtureSet {
        FixtureSet(
            consultation: consultation.merging(other.consultation) { _, new in new },
            fixtures: other.fixtures + fixtures
        )
    }
}

/// An outcome that a user can ask for.
package struct Fixture: Sendable {
    /// Chosen by `fixture:NAME` of a transaction.
    package var name: String?
    /// Chosen by the bytes of a chunk: lower-case hex.
    package var sha256: String?
    /// What every chunk says.
    package var text: String?
    /// What chunk n says; the last one goes on.
    package var passages: [String]?
    /// In seconds.
    package var delay: Double?
    /// The code that every chunk fails with.
    package var failure: Diagnostic.Code?
    /// The code of a warning, which makes a partial success.
    package var warning: Diagnostic.Code?
    /// Steps of the client's that the server refuses, whichever transcriber it has.
    package var refuses: [Step]?

    /// What a client does that can be made to fail.
    package enum Step: String, Hashable, Sendable, CaseIterable {
        case initialise = "init"
        case upload
        case stop
        case commit
    }

    package init(
        name: String? = nil, sha256: String? = nil, text: String? = nil, passages: [String]? = nil,
        delay: Double? = nil, failure: Diagnostic.Code? = nil, warning: Diagnostic.Code? = nil,
        refuses: [Step]? = nil
    ) {
        self.name = name
        self.sha256 = sha256
        self.text = text
        self.passages = passages
        self.delay = delay
        self.failure = failure
        self.warning = warning
        self.refuses = refuses
    }
}
