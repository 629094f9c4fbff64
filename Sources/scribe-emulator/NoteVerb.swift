import ArgumentParser
import Engines
import Foundation
import NIOPosix
import ScribeDomain
import ScribeRuntime
import ScribeServer

/// Writes a note without a server or audio, for who makes templates.
struct NoteVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Read a transcript on standard input, and print the note that the rules make of it.",
        discussion:
            "One line for each turn; a speaker's label ends with a colon. Notes are for testing, and no basis for care."
    )

    @Option(help: ArgumentHelp("The id of a template that the server came with.", valueName: "id"))
    var template = "clinical_notes_template"

    @Option(
        help: """
            Only the section of this title, or of this name in MTS-Dialog, such as GENHX; SECTION in the environment \
            says the same.
            """)
    var section: String?

    @Option(help: "markdown, json, eka_emr or transcript; by default the template's.")
    var format: String?

    @Flag(
        help:
            "Print where in the transcript each statement comes from, in bytes, and its words; as JSON with --format json."
    )
    var explain = false

    func validate() throws {
        if let format, Template.Format(rawValue: format) == nil {
            throw ValidationError(
                "--format: '\(format)' is none of \(Template.Format.allCases.map(\.rawValue).joined(separator: ", "))")
        }
    }

    func run() async throws {
        let input = FileHandle.standardInput.readDataToEndOfFile()
        guard input.count <= Limits.transcript else {
            throw ValidationError("a transcript has \(Limits.transcript) bytes at most")
        }
        let transcript = String(decoding: input, as: UTF8.self)
        let template = try chosen()
        let facts = ClinicalFacts(threads: .singleton)
        if explain {
            let found = try await facts.facts(in: transcript)
            let sections = template.sections.map { section in
                (section.title, found.filter { template.takes($0, under: section) })
            }.filter { !$0.1.isEmpty }
            guard template.format != .json else { return try Self.printAsJSON(sections, in: transcript) }
            for (title, statements) in sections {
                print(title)
                for statement in statements { print(Self.explanation(of: statement, in: transcript)) }
            }
            return
        }
        // The words themselves are the note when nothing was found, but no section of it.
        let isPart = template.sections.count == 1
        if isPart,
            try await facts.facts(in: transcript).allSatisfy({ !template.takes($0, under: template.sections[0]) })
        {
            return
        }
        let note = try await RulesNoteWriter(facts: facts).write(NoteRequest(template, from: transcript))
        // A section by itself stands without the document's headings.
        let text =
            isPart && template.format == .markdown
            ? note.value.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n") : note.value
        print(text, terminator: text.hasSuffix("\n") ? "" : "\n")
    }

    /// The template, with what the flags make of it.
    private func chosen() throws -> Template {
        let catalogue = try TemplateCatalogue.shipped()
        guard let template = catalogue[TemplateID(template)] else {
            let known = catalogue.templates.map(\.id.rawValue).sorted().joined(separator: ", ")
            throw ValidationError("--template: '\(template)' is none of \(known)")
        }
        let wanted = section ?? ProcessInfo.processInfo.environment["SECTION"]
        let sections = wanted.map { wanted in
            let titled = template.sections.filter { $0.title.lowercased() == wanted.lowercased() }
            return titled.isEmpty ? NoteSection.named(wanted).map { [$0] } ?? [] : titled
        }
        guard sections?.isEmpty != true else {
            let titles = (template.sections.map(\.title) + NoteSection.names).joined(separator: ", ")
            throw ValidationError("--section: '\(wanted ?? "")' is none of \(titles)")
        }
        return Template(
            id: template.id, name: template.name, format: format.flatMap(Template.Format.init) ?? template.format,
            bucket: template.bucket, sections: sections ?? template.sections,
            toldElsewhere: Set(template.sections.flatMap(\.facts)))
    }

    /// A section whose statements know where they come from; a shape of this tool, and of no client.
    private struct ExplainedSection: Encodable {
        struct Statement: Encodable {
            let kind: String
            let text: String
            /// In bytes of UTF-8, the end outside; absent where a statement has no one place.
            let start: Int?
            let end: Int?
        }

        let title: String
        let statements: [Statement]
    }

    private static func printAsJSON(_ sections: [(String, [ClinicalFact])], in transcript: String) throws {
        func offset(_ index: String.Index) -> Int { transcript.utf8.distance(from: transcript.startIndex, to: index) }
        let explained = sections.map { title, facts in
            ExplainedSection(
                title: title,
                statements: facts.map { fact in
                    .init(
                        kind: fact.kind.rawValue, text: fact.text, start: fact.source.map { offset($0.lowerBound) },
                        end: fact.source.map { offset($0.upperBound) })
                })
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(explained), as: UTF8.self))
    }

    private static func explanation(of fact: ClinicalFact, in transcript: String) -> String {
        guard let source = fact.source else { return "- \(fact.text)" }
        let start = transcript.utf8.distance(from: transcript.startIndex, to: source.lowerBound)
        let end = transcript.utf8.distance(from: transcript.startIndex, to: source.upperBound)
        return "- \(fact.text)\n    \(start)–\(end): \(transcript[source])"
    }
}
