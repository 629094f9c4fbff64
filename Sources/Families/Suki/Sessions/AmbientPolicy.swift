package import Foundation
package import ScribeDomain

/// Rules of ambient sessions that shared code needs: lifetime, encounter and template.
package struct AmbientPolicy: RecordingPolicy {
    /// Default lifetime of an ambient session, in seconds: as long as recordings are kept (suki.md 8).
    package static let usualLifetime: TimeInterval = 7 * 86_400
    /// Default of the least audio, in seconds (suki.md 5).
    package static let usualLeastAudio: TimeInterval = 60

    package let kind = RecordingKind.ambient
    package let title = "Suki"
    package let endsByOwnAPIOnly = true
    package let lifetime: RecordingLifetime?
    package let leastAudio: TimeInterval?

    /// - Parameter leastAudio: Sessions with less audio get no note, in seconds.
    package init(lifetime: TimeInterval = usualLifetime, leastAudio: TimeInterval = usualLeastAudio) {
        self.lifetime = RecordingLifetime(lifetime)
        self.leastAudio = leastAudio
    }

    package var hiddenTemplates: [Template] { [AmbientTerms(encounter: "").template(AmbientTerms.template)] }

    package func visit(of request: TransactionRequest) -> String? { AmbientTerms(stored: request.terms)?.encounter }

    /// A session without speech is skipped, which is no failure of its note. All else that fails has failed.
    package func outcome(of documents: [ResultDocument]) -> Transaction.ProcessingStatus {
        let own = documents.filter { $0.kind == .transcript || $0.templateID == AmbientTerms.template }
        guard own.contains(where: { $0.status == .failure }) else { return .success }
        let problems = own.filter { $0.kind == .transcript }.flatMap(\.errors).map(\.code)
        let isSilent = !problems.isEmpty && problems.allSatisfy(Self.silence.contains)
        return isSilent ? .requestFailure : .systemFailure
    }

    /// Problems of audio without speech.
    private static let silence: Set<Diagnostic.Code> = [.noAudio, .noSpeech, .emptyAudio, .audioTooShort]

    /// The template of an ambient session's note, whose sections the session chooses.
    package func template(_ id: TemplateID, of request: TransactionRequest) -> Template? {
        id == AmbientTerms.template ? AmbientTerms(stored: request.terms)?.template(id) : nil
    }
}
