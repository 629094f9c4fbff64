import ArgumentParser
import Basics
import Engines
import Foundation
import NIOPosix
import ScribeDomain
import ScribeRuntime
import ScribeServer

/// `note`: writes a note from a transcript, without a server or audio. It is for authors of templates.
struct NoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Read a transcript from standard input and print the note that the rules write from it.",
        discussion:
            "Write one line for each turn; a speaker's label ends with a colon. Notes are for tests only, never for care."
    )

    @Option(help: ArgumentHelp("The id of a template that is part of scribe-emulator.", valueName: "id"))
    var template = "clinical_notes_template"

    @Option(
        help: """
            Print only this section: a title of the template, or a name in MTS-Dialog such as GENHX. Or set SECTION.
            """)
    var section: String?

    @Option(help: "How to print it: markdown, json, eka_emr, fhir or transcript; by default as the template says.")
    var format: String?

    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case consultation, dictation
    }

    @Option(help: "Whether the transcript is a conversation or a dictated note.")
    var mode = Mode.consultation

    @Flag(
        help:
            "Print the rule and the words behind each statement, and the place of the words in bytes. --format json prints JSON."
    )
    var explain = false

    func validate() throws {
        if let format, !Template.Format.written.contains(Template.Format(format)) {
            throw ValidationError(
                "--format: '\(format)' is not one of \(Template.Format.written.map(\.rawValue).joined(separator: ", "))"
            )
        }
    }

    func run() async throws {
        let input = try Invocation.current.readInput()
        guard input.count <= Limits.transcript else {
            throw ValidationError(
                "standard input is too long; a transcript may have at most \(Limits.transcript) bytes")
        }
        let transcript = String(decoding: input, as: UTF8.self)
        let template = try chosen()
        let facts = ClinicalFacts(threads: .singleton)
        let found = try await facts.facts(in: transcript, isDictated: mode == .dictation)
        if explain {
            return try show(
                ExplainedSection.all(of: template, found, in: transcript), of: transcript, as: template.format)
        }
        // A note without any statement is the transcript itself, and has no section.
        if wantedSection != nil, let section = template.sections.first {
            let statements = found.filter { template.takes($0, under: section) }
            guard !statements.isEmpty else { return }
            if template.format == .markdown { return print(RulesNoteWriter.text(of: statements, under: section)) }
        }
        let note = try await RulesNoteWriter(facts: facts).write(
            NoteRequest(
                template, from: transcript, of: Visit(id: "note", time: WallClock.system.now),
                isDictated: mode == .dictation))
        print(note.value, terminator: note.value.hasSuffix("\n") ? "" : "\n")
    }

    /// The section to print: `--section`, else `SECTION` of the environment; nil for all.
    private var wantedSection: String? { section ?? Invocation.current.environment["SECTION"] }

    private func show(_ sections: [ExplainedSection], of transcript: String, as format: Template.Format) throws {
        guard format == .json else {
            for section in sections { print(section.lines(of: transcript).joined(separator: "\n")) }
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(sections), as: UTF8.self))
    }

    /// The template, reduced to the wanted section and in the wanted format.
    private func chosen() throws -> Template {
        let catalogue = try TemplateCatalogue.shipped()
        guard let template = catalogue[TemplateID(template)] else {
            let known = catalogue.templates.map(\.id.rawValue).sorted().joined(separator: ", ")
            throw ValidationError("--template: '\(template)' is not one of \(known)")
        }
        let wanted = wantedSection
        let sections = wanted.map { wanted in
            let titled = template.sections.filter { $0.title.lowercased() == wanted.lowercased() }
            return titled.isEmpty ? NoteSection.named(wanted).map { [$0] } ?? [] : titled
        }
        guard sections?.isEmpty != true else {
            let titles = (template.sections.map(\.title) + NoteSection.names).joined(separator: ", ")
            throw ValidationError(
                "\(section == nil ? "SECTION" : "--section"): '\(wanted ?? "")' is not one of \(titles)")
        }
        return Template(
            id: template.id, name: template.name, format: format.map { Template.Format($0) } ?? template.format,
            bucket: template.bucket, sections: sections ?? template.sections,
            toldElsewhere: Set(template.sections.flatMap(\.facts)))
    }
}
