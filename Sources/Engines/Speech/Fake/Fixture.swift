package import ScribeDomain

/// What the fake transcriber says, as `seed/fixtures.yaml` spells it.
package struct FixtureSet: Sendable, Decodable {
    /// Passages of one consultation by language, `en` at least.
    package var consultation: [String: [String]]
    package var fixtures: [Fixture]

    enum CodingKeys: CodingKey, CaseIterable {
        case consultation, fixtures
    }

    package init(consultation: [String: [String]], fixtures: [Fixture]) {
        self.consultation = consultation
        self.fixtures = fixtures
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        consultation = try container.decodeIfPresent([String: [String]].self, forKey: .consultation) ?? [:]
        fixtures = try container.decodeIfPresent([Fixture].self, forKey: .fixtures) ?? []
        let names = fixtures.compactMap(\.name)
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw UnusableEntry(problem: "the fixture '\(name)' is there twice")
        }
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
package struct Fixture: Sendable, Decodable {
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
    package enum Step: String, Hashable, Sendable, Decodable, CaseIterable {
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

    enum CodingKeys: CodingKey, CaseIterable {
        case name, sha256, text, passages, delay, failure, warning, refuses
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        sha256 = try container.decodeIfPresent(String.self, forKey: .sha256)
        text = try container.decodeIfPresent(String.self, forKey: .text)
        passages = try container.decodeIfPresent([String].self, forKey: .passages)
        delay = try container.decodeIfPresent(Double.self, forKey: .delay)
        failure = try container.decodeIfPresent(String.self, forKey: .failure).map(Self.known)
        warning = try container.decodeIfPresent(String.self, forKey: .warning).map(Self.known)
        refuses = try container.decodeIfPresent([String].self, forKey: .refuses)?.map(Self.known)
        if name == nil, sha256 == nil { throw UnusableEntry(problem: "a fixture needs a name or a sha256") }
        if name?.hasPrefix("fixture:") == true {
            throw UnusableEntry(problem: "a name goes without 'fixture:', which is what asks for it")
        }
        if let sha256, sha256.utf8.count != 64 || !sha256.allSatisfy(\.isHexDigit) {
            throw UnusableEntry(problem: "a sha256 has 64 hex digits")
        }
        if let delay, !(0...86_400).contains(delay) {
            throw UnusableEntry(problem: "a delay is 0 to 86400 seconds")
        }
    }

    private static func known<Word: RawRepresentable & CaseIterable>(_ text: String) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw UnusableEntry(problem: "'\(text)' is not known; there are \(known)")
        }
        return word
    }
}
