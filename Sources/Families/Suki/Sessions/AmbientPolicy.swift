package import Foundation
package import ScribeDomain

/// What shared code must know of ambient sessions.
package struct AmbientPolicy: RecordingPolicy {
    /// How long a session may be open: as long as recordings are kept (suki.md 8).
    package static let usualLifetime: TimeInterval = 7 * 86_400

    package let kind = RecordingKind.ambient
    package let lifetime: TimeInterval?

    package init(lifetime: TimeInterval = usualLifetime) { self.lifetime = lifetime }

    package var hiddenTemplates: [Template] { [AmbientTerms(encounter: "").template(AmbientTerms.template)] }

    package func visit(of request: TransactionRequest) -> String? { AmbientTerms(stored: request.terms)?.encounter }

    /// A session chooses the sections of its note itself.
    package func template(_ id: TemplateID, of request: TransactionRequest) -> Template? {
        id == AmbientTerms.template ? AmbientTerms(stored: request.terms)?.template(id) : nil
    }
}
