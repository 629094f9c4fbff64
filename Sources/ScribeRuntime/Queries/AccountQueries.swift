package import ScribeDomain
package import ScribeStore

/// Reads clients, clinicians and their preferences.
package struct AccountQueries: Sendable {
    let store: Store

    /// The client of that id with the hash of its secret, or nil.
    package func client(_ id: ClientID) async throws -> (client: Client, secretHash: [UInt8])? {
        try await store.client(id)
    }

    /// A clinician of a partner, by the subject of the partner's tokens; nil when there is none.
    package func provider(_ subject: String, of partner: String) async throws -> Provider? {
        try await store.provider(subject, of: partner)
    }

    /// The preferences of a user over those of the business; an object.
    package func preferences(of user: UserID, in business: BusinessID) async throws -> JSONValue {
        try await store.preferences(of: user, in: business)
    }
}
