import Basics
import Foundation
import NIOPosix
import ScribeDomain
import Testing

@testable import Engines

struct RulesNoteWriterTests {
    let transcript = "I have a fever for two days. Take paracetamol 500 mg twice a day. Drink water."

    func template(_ format: Template.Format) -> Template {
        Template(
            id: .init("t"), name: "Note", format: format, bucket: .custom,
            sections: [
                .init(title: "Complaints", facts: [.complaint]), .init(title: "History", facts: [.history]),
                .init(title: "Plan", facts: [.medication, .advice]),
            ]
        )
    }

    private let visit = Visit(id: "t", time: Date(timeIntervalSince1970: 1_800_000_000))
    private let writer = RulesNoteWriter(facts: ClinicalFacts(threads: .singleton))

    private func note(_ format: Template.Format, from text: String? = nil) async throws -> String {
        try await writer.write(NoteRequest(template(format), from: text ?? transcript, of: visit)).value
    }

    @Test("a note in another language than the spoken one is written, with a warning")
    func language() async throws {
        let request = NoteRequest(template(.markdown), from: transcript, of: visit, isInSpokenLanguage: false)
        let written = try await writer.write(request)
        #expect(written.value.contains("fever"))
        #expect(written.warnings.map(\.code) == [.notTranslated])
    }

    @Test("a markdown note has a heading for each section with content")
    func markdown() async throws {
        let note = try await note(.markdown)
        #expect(
            note == """
                # Note

                ## Complaints

                - fever for two days

                ## Plan

                - drink water
                - paracetamol 500 mg twice a day

                """
        )
    }

    @Test("a note in JSON is an array of titles and values")
    func json() async throws {
        let note = try await note(.json)
        let sections = try JSONDecoder().decode([[String: String]].self, from: Data(note.utf8))
        #expect(sections.map { $0["title"] } == ["Complaints", "Plan"])
        #expect(sections.first?["value"] == "- fever for two days")
    }

    @Test("a note in eka_emr is an object of named items")
    func emr() async throws {
        let note = try await note(.ekaEMR)
        let record = try JSONDocument(Data(note.utf8)).value
        guard case .array(let plan)? = record["prescription"]?["Plan"] else {
            Issue.record("no plan in \(note)")
            return
        }
        #expect(plan.last?["dose"] == .string("500 mg"))
    }

    @Test("a template for transcripts gets the transcript as its note")
    func transcriptTemplate() async throws {
        #expect(
            try await note(.transcript) == transcript)
    }

    @Test(
        "the note of a transcript without facts is the transcript itself",
        arguments: [Template.Format.markdown, .json, .ekaEMR])
    func fallback(format: Template.Format) async throws {
        #expect(
            try await note(format, from: "Hello world.").contains("Hello world."))
    }
}
