package import ScribeDomain

/// A namespace's own client in a snapshot. In another namespace the rows belong to that namespace's own client.
package struct SnapshotOwner: Codable, Hashable, Sendable {
    package let business: String
    package let user: String
    package let doctor: String
    package let client: String

    package init(_ principal: Principal) {
        business = principal.business.rawValue
        user = principal.user.rawValue
        doctor = principal.doctor.rawValue
        client = principal.client.rawValue
    }

    /// Business, user, doctor and client, as columns name them in this order.
    var parts: [String] { [business, user, doctor, client] }
}
