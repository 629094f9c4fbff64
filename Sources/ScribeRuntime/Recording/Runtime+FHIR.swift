package import Basics
import Engines
package import ScribeDomain

extension Runtime {
    /// Encodes the note of a transaction as a FHIR document, by the rules and with the template
    /// ``TemplateCatalogue/fallback``.
    /// - Throws: `CancellationError`.
    package func fhir(of transaction: Transaction, _ transcript: String) async throws -> JSON {
        let found = try await facts.facts(in: transcript, isDictated: transaction.request.isDictated)
        let visit = Visit(transaction.key, transaction.request, at: transaction.createdAt)
        let template = templates.fallback
        return await EventLoopOffload.run(bytes: transcript.utf8.count) {
            FHIRDocument(template, found, of: visit, transcript: transcript).json
        }
    }
}
