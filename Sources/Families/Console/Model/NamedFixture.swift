import Engines
import ScribeDomain
import ScribeRuntime

/// Fixture that a recording names, with what it asks for.
struct NamedFixture: Hashable, Sendable {
    /// Most known names in a sentence.
    private static let mostNames = 20

    /// nil where the console shows no words of clients.
    let name: String?
    /// nil if there is no such fixture now.
    let content: Fixture?
    /// Whether fixtures replace transcripts; false with a real recogniser, with which they only refuse steps.
    let hasTexts: Bool
    /// Names of the known fixtures, where there is none of this name.
    let knownNames: [String]

    init(name: String?, content: Fixture?, hasTexts: Bool = true, knownNames: [String] = []) {
        self.name = name
        self.content = content
        self.hasTexts = hasTexts
        self.knownNames = content == nil ? knownNames : []
    }

    init(_ name: String, in fixtures: FixtureBehaviour, showsName: Bool) {
        let content = fixtures.fixture(name)
        self.init(
            name: showsName ? name : nil, content: content, hasTexts: fixtures.hasTexts,
            knownNames: content == nil ? fixtures.names : [])
    }

    /// Whether the fixture makes results fail with a code.
    ///
    /// A fixture that was removed since is taken at its name, unless the server never knew it.
    func asks(for code: Diagnostic.Code) -> Bool {
        guard let content else { return code != .unknownFixture }
        if refuses(.upload), [.audioMissing, .noAudio].contains(code) { return true }
        guard hasTexts else { return false }
        return content.failure == code || content.warning == code || code == .noSpeech && content.isSilent
    }

    func refuses(_ step: Fixture.Step) -> Bool { content?.refuses?.contains(step) == true }

    /// Seconds after commit for which the results are held back; nil for none.
    var delay: Double? { hasTexts ? content?.delay : nil }

    /// Sentence with the known names.
    var advice: String {
        guard !knownNames.isEmpty else { return "Ask for it again: there is one of this name now." }
        let names = knownNames.prefix(Self.mostNames).joined(separator: ", ")
        return "The known ones are \(names)\(knownNames.count > Self.mostNames ? " and more" : "")."
    }
}

extension Fixture {
    /// Whether the fixture's text is empty.
    fileprivate var isSilent: Bool { text.map(\.isEmpty) ?? passages?.allSatisfy(\.isEmpty) ?? false }
}
