import Basics
package import ScribeDomain

/// Fixtures and passages of the fake transcriber.
package struct FixtureSet: Sendable {
    /// Passages of one visit by language, `en` at least.
    package var defaultPassages: [String: [String]]
    package var fixtures: [Fixture]

    package init(defaultPassages: [String: [String]], fixtures: [Fixture]) {
        self.defaultPassages = defaultPassages
        self.fixtures = fixtures
    }

    /// Fixture with the given name; nil if there is none.
    package subscript(name: String) -> Fixture? { fixtures.first { $0.name == name } }

    /// Set with another set's entries before its own, so that a user's file can replace shipped fixtures.
    package func overridden(by other: FixtureSet) -> FixtureSet {
        FixtureSet(
            defaultPassages: defaultPassages.merging(other.defaultPassages) { _, new in new },
            fixtures: other.fixtures + fixtures
        )
    }
}

/// Prepared outcome of a recording, which a client can select.
package struct Fixture: Hashable, Sendable {
    /// Name by which a transaction selects the fixture, as `fixture:NAME`.
    package var name: String?
    /// SHA-256 of a chunk that selects the fixture, in lower-case hex.
    package var sha256: String?
    /// Text of every chunk.
    package var text: String?
    /// Texts of the chunks by number; the last text repeats.
    package var passages: [String]?
    /// Segments of the chunks by number, with speakers and times; the last chunk repeats. In place of texts.
    package var spoken: [[SpokenSegment]]?
    /// Text of every note.
    package var note: String?
    /// Client of the transactions that get the fixture, where they name no fixture themselves.
    package var client: String?
    /// Whether the next transaction alone gets the fixture.
    package var isForNext = false
    /// Delay of the recognition, in seconds.
    package var delay: Double?
    /// Error code with which every chunk fails.
    package var failure: Diagnostic.Code?
    /// Code of a warning, which makes the result a partial success.
    package var warning: Diagnostic.Code?
    /// Client steps that the server refuses, with any transcriber.
    package var refuses: [Step]?

    /// Words of one speaker, in seconds from the start of their chunk.
    package struct SpokenSegment: Hashable, Sendable {
        package let text: String
        package let speaker: Int?
        package let start: Double
        package let end: Double

        package init(text: String, speaker: Int?, start: Double, end: Double) {
            self.text = text
            self.speaker = speaker
            self.start = start
            self.end = end
        }

        /// The words, evenly spaced.
        var words: [TimedWord] {
            let words = text.words
            let step = (end - start) / Double(max(1, words.count))
            return words.enumerated().map { index, word in
                TimedWord(
                    text: String(word), start: start + Double(index) * step, end: start + Double(index + 1) * step,
                    speaker: speaker)
            }
        }
    }

    /// Client step that a fixture can make fail.
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
