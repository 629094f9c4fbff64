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
        if let format, !Template.Format.written.contains(Template.Format(format)) {
            throw ValidationError(
                "--format: '\(format)' is none of \(Template.Format.written.map(\.rawValue).joined(separator: ", "))")
        }
    }

    func run() async throws {
        let input = FileHandle.standardInput.readDataToEndOfFile()
        guard input.count <= Limits.transcript else {
            throw ValidationError("standard input is too long: a transcript has \(Limits.transcript) bytes at most")
        }
        let transcript = String(decoding: input, as: UTF8.self)
        let template = try chosen()
        let facts = ClinicalFacts(threads: .singleton)
        let found = try await facts.facts(in: transcript)
        if explain {
            return try show(
                ExplainedSection.all(of: template, found, in: transcript), of: transcript, as: template.format)
        }
        // Without any statement the conversation itself is the note, but no section of one.
        if wantedSection != nil, let section = template.sections.first {
            let statements = found.filter { template.takes($0, under: section) }
            guard !statements.isEmpty else { return }
            if template.format == .markdown { return print(RulesNoteWriter.text(of: statements, under: section)) }
        }
        let note = try await RulesNoteWriter(facts: facts).write(NoteRequest(template, from: transcript))
        print(note.value, terminator: note.value.hasSuffix("\n") ? "" : "\n")
    }

    /// The name that the flag gives, or the environment.
    private var wantedSection: String? { section ?? ProcessInfo.processInfo.environment["SECTION"] }

    private func show(_ sections: [ExplainedSection], of transcript: String, as format: Template.Format) throws {
        guard format == .json else {
            for section in sections { print(section.lines(of: transcript).joined(separator: "\n")) }
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(sections), as: UTF8.self))
    }

    /// The template, with what the flags make of it.
    private func chosen() throws -> Template {
        let catalogue = try TemplateCatalogue.shipped()
        guard let template = catalogue[TemplateID(template)] else {
            let known = catalogue.templates.map(\.id.rawValue).sorted().joined(separator: ", ")
            throw ValidationError("--template: '\(template)' is none of \(known)")
        }
        let wanted = wantedSection
        let sections = wanted.map { wanted in
            let titled = template.sections.filter { $0.title.lowercased() == wanted.lowercased() }
            return titled.isEmpty ? NoteSection.named(wanted).map { [$0] } ?? [] : titled
        }
        guard sections?.isEmpty != true else {
            let titles = (template.sections.map(\.title) + NoteSection.names).joined(separator: ", ")
            throw ValidationError(
                "\(section == nil ? "SECTION" : "--section"): '\(wanted ?? "")' is none of \(titles)")
        }
        return Template(
            id: template.id, name: template.name, format: format.map { Template.Format($0) } ?? template.format,
            bucket: template.bucket, sections: sections ?? template.sections,
            toldElsewhere: Set(template.sections.flatMap(\.facts)))
    }
}
