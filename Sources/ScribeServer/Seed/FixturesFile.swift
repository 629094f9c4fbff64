import Engines

/// Contents of a fixtures file, such as `seed/fixtures.yaml`; `consultation` has the default passages by language.
struct FixturesFile {
    static let keys = ["consultation", "fixtures"]

    let fixtures: FixtureSet

    init(_ file: FileFields) throws {
        let entries =
            try file.list(
                "fixtures",
                known: ["name", "sha256", "text", "passages", "delay", "failure", "warning", "refuses"],
                Self.fixture) ?? []
        let names = entries.compactMap(\.name)
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw UnusableEntry(problem: "two fixtures have the name '\(name)'; rename one")
        }
        let passages = try file.fields(ifPresent: "consultation", known: nil)
        fixtures = FixtureSet(
            defaultPassages: try Dictionary(
                uniqueKeysWithValues: (passages?.names ?? []).map { ($0, try passages?.texts(ifPresent: $0) ?? []) }),
            fixtures: entries)
    }

    private static func fixture(_ entry: FileFields) throws -> Fixture {
        let fixture = Fixture(
            name: try entry.text(ifPresent: "name"), sha256: try entry.text(ifPresent: "sha256"),
            text: try entry.text(ifPresent: "text"), passages: try entry.texts(ifPresent: "passages"),
            delay: try entry.number(ifPresent: "delay"), failure: try entry.word(ifPresent: "failure"),
            warning: try entry.word(ifPresent: "warning"), refuses: try entry.words(ifPresent: "refuses"))
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
        return fixture
    }
}
