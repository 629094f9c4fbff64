import Basics

/// Configured partners, whose clinicians may log in; replaceable while the server runs.
package final class KnownPartners: Sendable {
    private let partners: LockedValue<[String: Partner]>

    /// - Parameter partners: If two have the same id, the last one counts.
    package init(_ partners: [Partner]) { self.partners = LockedValue(Self.byID(partners)) }

    /// Replaces all partners.
    package func replace(_ partners: [Partner]) {
        let byID = Self.byID(partners)
        self.partners.withLock { $0 = byID }
    }

    subscript(id: String) -> Partner? { partners.withLock { $0[id] } }

    private static func byID(_ partners: [Partner]) -> [String: Partner] {
        Dictionary(partners.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
    }
}
