import Basics
import Engines
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Results of a recording: the transcript and the notes, each in the forms that it has.
extension ConsoleFamily {
    /// Maximum length in bytes of a transcript, up to which its notes are explained.
    private static let longestExplained = 64 << 10

    /// The results, notes with the words that each statement came from. The first note has the FHIR document, too.
    func shown(
        _ documents: [ResultDocument], of transaction: Transaction, _ facts: RecordingState.Facts,
        _ pageRequest: PageRequest
    ) async throws -> [ConsoleViews.Model] {
        let transcript = documents.first { $0.kind == .transcript }
        let said = transcript?.value ?? ""
        let isExplained = settings.showsWords && !said.isEmpty && said.utf8.count <= Self.longestExplained
        let copies = documents.filter { $0.isCopy(of: transcript) }
        let fhir =
            isExplained && transcript?.status.isUsable == true && transaction.processingStatus != .cancelled
            ? try await pageRequest.context.world.runtime.fhir(of: transaction, said).indented : ""
        let withFHIR = (documents.first { $0.kind != .transcript && !copies.contains($0) } ?? transcript)?.id
        var models: [ConsoleViews.Model] = []
        for one in documents where !copies.contains(one) {
            let template =
                one.kind == .transcript || !settings.showsWords
                ? nil : try await template(one.templateID, of: transaction.owner.business, pageRequest.context.world)
            var model = document(
                one, facts, copies: one.kind == .transcript ? copies : [],
                fhir: one.id == withFHIR ? fhir : "", order: template?.sections.map(\.title) ?? [])
            if isExplained, one.status.isUsable, let template {
                let evidence = try await NoteEvidence(
                    of: template, in: said, isDictated: transaction.request.isDictated, self.facts)
                model["evidence"] = evidence.models
                model["hasEvidence"] = !evidence.sections.isEmpty
            }
            models.append(model)
        }
        return models
    }

    /// - Parameters:
    ///   - copies: Results that say the same.
    ///   - fhir: The FHIR document that stands beside the result; empty for none.
    ///   - order: Names of the note's sections in the order of its template.
    private func document(
        _ document: ResultDocument, _ facts: RecordingState.Facts, copies: [ResultDocument], fhir: String,
        order: [String]
    ) -> ConsoleViews.Model {
        let text = settings.showsWords ? document.value ?? "" : ""
        let isTranscript = document.kind == .transcript
        let blocks = isTranscript ? nil : NoteBlocks.blocks(of: text, document.format, order: order)
        // The page has the title already.
        let below = blocks?.first?.heading == document.name ? blocks?.dropFirst() : blocks?[...]
        let anchor = isTranscript ? "words" : "note-\(document.id.rawValue)"
        let templates = (isTranscript ? [] : [document.templateID]) + copies.map(\.templateID)
        return [
            "title": isTranscript ? "Transcript" : document.name, "status": document.status.rawValue,
            "templates": templates.map(\.rawValue).joined(separator: ", "), "content": text,
            "raw": JSONLayout.markup(of: text) ?? text as Any,
            "form": isTranscript ? "Words" : "Note", "isNote": blocks != nil,
            "blocks": (below ?? []).map(\.model), "hasRaw": blocks != nil,
            "hasText": !text.isEmpty, "isHidden": !settings.showsWords, "isEdited": document.isEdited,
            "anchor": anchor, "hasTabs": blocks != nil || !fhir.isEmpty, "fhir": fhir, "hasFHIR": !fhir.isEmpty,
            "problems": (document.errors + document.warnings).map { diagnostic in
                let told = ProblemSentences(diagnostic, in: facts)
                return [
                    "what": told.what, "advice": told.advice, "code": diagnostic.code.rawValue,
                    "isAsked": told.asker != nil, "isBad": document.status == .failure,
                ]
            } as [ConsoleViews.Model],
        ]
    }
}

extension ResultDocument {
    /// Whether a client's template asked for nothing but the transcript.
    fileprivate func isCopy(of transcript: ResultDocument?) -> Bool {
        guard let transcript, kind != .transcript, format == .transcript else { return false }
        return value == transcript.value && status == transcript.status && errors == transcript.errors
            && warnings == transcript.warnings
    }
}
