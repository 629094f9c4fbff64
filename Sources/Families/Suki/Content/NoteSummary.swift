import ScribeDomain
import ScribeRuntime

/// The sections of one note, or of several put together: each code once (suki.md 3.9).
struct NoteSummary: Encodable {
    struct Item: Encodable {
        let title: String
        let code: String
        var content: String
        var sources: [String]

        enum CodingKeys: String, CodingKey {
            case title, content
            case code = "loinc_code"
            case sources = "source_transcripts"
        }
    }

    private(set) var summary: [Item] = []

    /// Where what has no section of its own goes: the words themselves, when nothing was recognised in them.
    private static let rest = "46239-0"

    init(_ notes: [AmbientSessions.Note]) {
        for note in notes {
            let sources = SourceSentences(note.transcript)
            let asked = note.transaction.request.ambient?.context.sections ?? []
            for (title, text) in note.sections {
                let code = AmbientSection.titled(title)?.code ?? asked.first ?? Self.rest
                add(code, text, sources.sentences(behind: text))
            }
        }
    }

    private mutating func add(_ code: String, _ content: String, _ sources: [String]) {
        if let index = summary.firstIndex(where: { $0.code == code }) {
            summary[index].content += "\n\(content)"
            summary[index].sources = (summary[index].sources + sources).removingDuplicates()
        } else {
            let title = AmbientSection[code]?.title ?? ""
            summary.append(Item(title: title.uppercased(), code: code, content: content, sources: sources))
        }
    }
}

/// What was said, sentence by sentence, to find again what a note was written from.
struct SourceSentences {
    private let sentences: [(text: Substring, words: [Substring])]
    /// Which sentences hold a word.
    private let places: [Substring: [Int]]

    /// Lines of a note beyond these have no source shown, and words that are in more sentences are no way to find one.
    private static let mostLines = 500
    private static let mostPlaces = 200

    init(_ transcript: String) {
        var sentences: [(Substring, [Substring])] = []
        var places: [Substring: [Int]] = [:]
        for text in transcript.sentences {
            let words = text.plainWords
            guard !words.isEmpty else { continue }
            for word in Set(words) { places[word, default: []].append(sentences.count) }
            sentences.append((text, words))
        }
        self.sentences = sentences
        self.places = places
    }

    /// The sentences that the lines of a section are taken from, each once, in the section's order.
    func sentences(behind content: String) -> [String] {
        var found: [Int] = []
        for line in content.sentences.prefix(Self.mostLines) {
            let words = line.plainWords
            // By its rarest word.
            let rarest = words.compactMap { places[$0] }.min { $0.count < $1.count }
            guard let rarest, rarest.count <= Self.mostPlaces, words.allSatisfy({ places[$0] != nil }) else { continue }
            if let place = rarest.first(where: { sentences[$0].words.contains(run: words) }) { found.append(place) }
        }
        return found.removingDuplicates().map { String(sentences[$0].text) }
    }
}

extension [Substring] {
    /// Whether these follow one another in it.
    fileprivate func contains(run: [Substring]) -> Bool {
        guard let first = run.first, run.count <= count else { return false }
        return (0...(count - run.count)).contains { start in
            self[start] == first && self[start..<(start + run.count)].elementsEqual(run)
        }
    }
}
