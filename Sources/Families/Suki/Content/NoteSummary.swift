import Basics
import ScribeDomain
import ScribeRuntime

/// Encodes the sections of one or several notes, merged by LOINC code (suki.md 3.9).
struct NoteSummary {
    private struct Item {
        let title: String
        let code: String
        var content: String
        var sources: [String]
    }

    private var summary: [Item] = []

    /// Section for text without a section of its own, such as a transcript in which nothing was recognised.
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

/// Sentences of a transcript, to find the sources of a note's lines.
struct SourceSentences {
    private let sentences: [Substring]
    private let index: SentenceIndex

    /// Most lines of a section with a source.
    private static let maxLines = 500

    init(_ transcript: String) {
        sentences = transcript.sentences
        index = SentenceIndex(sentences.map(\.plainWords))
    }

    /// The source sentences of a section's lines, each once, in the section's order.
    func sentences(behind content: String) -> [String] {
        content.sentences.prefix(Self.maxLines).compactMap { index.nearest(to: $0.plainWords) }.removingDuplicates()
            .map { String(sentences[$0]) }
    }
}
