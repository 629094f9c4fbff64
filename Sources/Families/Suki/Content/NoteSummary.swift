import ScribeDomain
import ScribeRuntime

/// The sections of one note, or of several put together: each code once (suki.md 3.9).
struct NoteSummary {
    private struct Item {
        let title: String
        let code: String
        var content: String
        var sources: [String]
    }

    private var summary: [Item] = []

    /// Where what has no section of its own goes: the words themselves, when nothing was recognised in them.
    private static let rest = "46239-0"

    init(_ notes: [AmbientSessions.Note]) {
        for note in notes {
            let sources = SourceSentences(note.transcript)
            let asked = note.transaction.ambientTerms?.context.sections ?? []
            for (title, text) in note.sections {
                let code = AmbientSection.titled(title)?.code ?? asked.first ?? Self.rest
                add(code, text, sources.sentences(behind: text))
            }
        }
    }

    var json: JSON {
        [
            "summary": .array(summary) {
                [
                    "title": .string($0.title), "loinc_code": .string($0.code), "content": .string($0.content),
                    "source_transcripts": .array($0.sources, JSON.string),
                ]
            }
        ]
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
    private let sentences: [Substring]
    private let index: SentenceIndex

    /// Lines of a note beyond these have no source shown.
    private static let mostLines = 500

    init(_ transcript: String) {
        sentences = transcript.sentences
        index = SentenceIndex(sentences.map(\.plainWords))
    }

    /// The sentences that the lines of a section are taken from, each once, in the section's order.
    func sentences(behind content: String) -> [String] {
        content.sentences.prefix(Self.mostLines).compactMap { index.nearest(to: $0.plainWords) }.removingDuplicates()
            .map { String(sentences[$0]) }
    }
}
