import Basics
import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// Note writer on a language model within the process, and requests for it.
struct ModelNotes {
    static let transcript = """
        Doctor: What brings you in? Any fever?
        Patient: No. I have had a cough for three days.
        Doctor: Take ibuprofen 400 mg twice a day.
        """

    let manual = ManualClock()

    func writer(
        _ api: ChatAPI, _ unsaid: ModelNoteWriter.UnsaidContent = .leaveOut, longest: Int = 24_000,
        byRules: Set<TemplateID> = [], key: String? = nil
    ) throws -> ModelNoteWriter {
        let client = ServiceClient(
            timeLimit: timeOfATest, codes: (.noteFailed, .noteFailed), files: .singleton, clock: manual.clock)
        let url = try #require(URL(string: "\(api.http.url)/v1"))
        return ModelNoteWriter(
            ChatModel(baseURL: url, key: key, model: "small", client: client), unsaid: unsaid, longest: longest,
            byRules: byRules, rules: RulesNoteWriter(facts: ClinicalFacts(threads: .singleton)))
    }

    func request(
        _ format: Template.Format = .markdown, from transcript: String = Self.transcript, isDictated: Bool = false
    ) -> NoteRequest {
        let template = Template(
            id: .init("visit"), name: "Visit", summary: "A short note.", format: format, bucket: .custom,
            sections: [
                .init(
                    title: "Symptoms", facts: [.complaint], isParagraph: true, summary: "What hurts.",
                    example: "The patient reports fever."),
                .init(title: "Medications", facts: [.medication]),
            ])
        return NoteRequest(
            template, from: transcript, of: Visit(id: "n", time: Date(timeIntervalSince1970: 1_800_000_000)),
            isDictated: isDictated)
    }
}
