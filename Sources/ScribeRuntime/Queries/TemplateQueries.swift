package import ScribeDomain
import ScribeStore

/// Reads templates and sections of businesses.
package struct TemplateQueries: Sendable {
    let store: Store

    /// Memory to reserve before a list of a business's own templates or sections is read and encoded, in bytes.
    package func listSize(of business: BusinessID) async throws -> Int {
        // The rows, their values, and the answer.
        try await 3 * store.templateBytes(of: business)
    }

    /// A business's own templates, newest first.
    package func templates(of business: BusinessID) async throws -> [CustomTemplate] {
        try await store.templates(of: business)
    }

    /// One of a business's own templates, also a deleted one; nil if there is none.
    package func template(_ id: TemplateID, of business: BusinessID) async throws -> CustomTemplate? {
        try await store.template(id, of: business)
    }

    /// A business's own sections, newest first.
    package func sections(of business: BusinessID) async throws -> [TemplateSection] {
        try await store.sections(of: business)
    }
}
