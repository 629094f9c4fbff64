import Basics
import Engines
import ScribeDomain

/// Statements that the rules read from a transcript, each with the words that it came from.
struct NoteEvidence: Sendable {
    struct Statement: Hashable, Sendable {
        let text: String
        /// Words of the transcript; empty for a statement without one place.
        let words: String
    }

    /// Sections of the template that have statements.
    let sections: [(title: String, statements: [Statement])]

    /// - Throws: `CancellationError`.
    init(
        of template: Template, in transcript: String, isDictated: Bool = false, _ facts: ClinicalFacts
    ) async throws {
        let found = try await facts.facts(in: transcript, isDictated: isDictated)
        sections = template.sections.compactMap { section in
            let statements = found.filter { template.takes($0, under: section) }.map { fact in
                Statement(text: fact.text, words: fact.source.map { String(transcript[$0]) } ?? "")
            }
            return statements.isEmpty ? nil : (section.title, statements)
        }
    }

    var models: [ConsoleViews.Model] {
        sections.map { section in
            [
                "section": section.title,
                "statements": section.statements.map { ["statement": $0.text, "words": $0.words] },
            ]
        }
    }

    var json: JSON {
        .array(sections) { section in
            [
                "title": .string(section.title),
                "statements": .array(section.statements) { ["text": .string($0.text), "words": .string($0.words)] },
            ]
        }
    }
}
