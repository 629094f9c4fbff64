public import ScribeDomain

/// What the fake transcriber says, as `seed/fixtures.yaml` spells it.
public struct FixtureSet: Sendable, Codable {
    /// Passages of one consultation by language, `en` at least.
    public var consultation: [String: [String]]
    public var fixtures: [Fixture]

    public init(consultation: [String: [String]], fixtures: [Fixture]) {
        self.consultation = consultation
        self.fixtures = fixtures
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        consultation = try container.decodeIfPresent([String: [String]].self, forKey: .consultation) ?? [:]
        fixtures = try container.decodeIfPresent([Fixture].self, forKey: .fixtures) ?? []
    }

    /// This set with that one's entries in front, so that a user's file can replace what is shipped.
    public func overridden(by other: FixtureSet) -> FixtureSet {
        FixtureSet(
            consultation: consultation.merging(other.consultation) { _, new in new },
            fixtures: other.fixtures + fixtures
        )
    }
}

/// An outcome that a user can ask for.
public struct Fixture: Sendable, Codable {
    /// Chosen by `fixture:NAME` of a transaction.
    public var name: String?
    /// Chosen by the bytes of a chunk: lower-case hex.
    public var sha256: String?
    /// What every chunk says.
    public var text: String?
    /// What chunk n says; the last one goes on.
    public var passages: [String]?
    /// In seconds.
    public var delay: Double?
    /// The code that every chunk fails with.
    public var failure: Diagnostic.Code?
    /// The code of a warning, which makes a partial success.
    public var warning: Diagnostic.Code?

    public init(
        name: String? = nil, sha256: String? = nil, text: String? = nil, passages: [String]? = nil,
        delay: Double? = nil, failure: Diagnostic.Code? = nil, warning: Diagnostic.Code? = nil
    ) {
        self.name = name
        self.sha256 = sha256
        self.text = text
        self.passages = passages
        self.delay = delay
        self.failure = failure
        self.warning = warning
    }
}
