import Engines

/// Contents of a fixtures file, such as `seed/fixtures.yaml`; `consultation` has the default passages by language.
struct FixturesFile: Decodable {
    let fixtures: FixtureSet

    private enum CodingKeys: CodingKey, CaseIterable {
        case consultation, fixtures
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let entries =
            try container.decodeIfPresent([PlacedEntry<Entry>].self, forKey: .fixtures)?.map(\.entry) ?? []
        let names = entries.compactMap(\.fixture.name)
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw UnusableEntry(problem: "two fixtures have the name '\(name)'; rename one")
        }
        fixtures = FixtureSet(
            defaultPassages: try container.decodeIfPresent([String: [String]].self, forKey: .consultation) ?? [:],
            fixtures: entries.map(\.fixture))
    }

    private struct Entry: Decodable {
        let fixture: Fixture

        private enum CodingKeys: CodingKey, CaseIterable {
            case name, sha256, text, passages, delay, failure, warning, refuses
        }

        init(from decoder: any Decoder) throws {
            try decoder.refuseUnknownKeys(CodingKeys.allCases)
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
            fixture = Fixture(
                name: try text(.name), sha256: try text(.sha256), text: try text(.text),
                passages: try container.decodeIfPresent([String].self, forKey: .passages),
                delay: try container.decodeIfPresent(Double.self, forKey: .delay),
                failure: try text(.failure).map(Self.known), warning: try text(.warning).map(Self.known),
                refuses: try container.decodeIfPresent([String].self, forKey: .refuses)?.map(Self.known))
            if fixture.name == nil, fixture.sha256 == nil {
                throw UnusableEntry(problem: "a fixture needs a name or a sha256")
            }
            if fixture.name?.hasPrefix("fixture:") == true {
                throw UnusableEntry(
                    problem: "write a name without 'fixture:'; clients add that prefix to select the fixture"
                )
            }
            if let sha256 = fixture.sha256, sha256.utf8.count != 64 || !sha256.allSatisfy(\.isHexDigit) {
                throw UnusableEntry(problem: "a sha256 has 64 hex digits")
            }
            if let delay = fixture.delay, !(0...86_400).contains(delay) {
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
}
