import Basics
package import ScribeDomain
import ScribeStore

/// A requested template that neither the server nor the business has. Its note is titled by the id (eka.md 6.1).
package struct UnknownTemplate: Hashable, Sendable {
    package let id: TemplateID
    /// The known id that differs least, for people who mistyped one.
    package let nearest: String
}

extension Transactions {
    /// The first of the requested templates that does not exist; nil if all exist.
    ///
    /// One is enough for a hint: a comparison with the thousand templates of a business takes milliseconds.
    package func unknownTemplate(
        among requested: [TemplateID], of business: BusinessID
    ) async throws -> UnknownTemplate? {
        for id in requested where templates[id] == nil {
            guard try await store.templates.template(id, of: business) == nil else { continue }
            let known = templates.templates.map(\.id) + (try await store.templates.all(of: business).map(\.id))
            let nearest = nearestName(to: String(id.rawValue.prefix(64)), among: known.map(\.rawValue))
            return UnknownTemplate(id: id, nearest: nearest)
        }
        return nil
    }
}
