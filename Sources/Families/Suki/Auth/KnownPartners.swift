import ScribeDomain

/// The partners whose clinicians may log in, which can be replaced while the server runs.
package final class KnownPartners: Sendable {
    private let partners: LockedValue<[String: Partner]>

    /// - Parameter partners: of several with one id, the last counts.
    package init(_ partners: [Partner]) { self.partners = LockedValue(Self.byID(partners)) }

    /// Makes exactly these partners known.
    package func replace(_ partners: [Partner]) {
        let byID = Self.byID(partners)
        self.partners.withLock { $0 = byID }
    }

    subscript(id: String) -> Partner? { partners.withLock { $0[id] } }

    private static func byID(_ partners: [Partner]) -> [String: Partner] {
        Dictionary(partners.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
    }
}
