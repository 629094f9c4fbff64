package import ScribeDomain
package import ScribeStore

/// Reads clients, clinicians and their preferences.
package struct AccountQueries: Sendable {
    let store: Store

    /// The client with an id and the hash of its secret, or nil.
    package func client(_ id: ClientID) async throws -> (client: Client, secretHash: [UInt8])? {
        try await store.client(id)
    }

    /// A clinician of a partner, by the subject of the partner's tokens; nil if there is none.
    package func provider(_ subject: String, of partner: String) async throws -> Provider? {
        try await store.provider(subject, of: partner)
    }

    /// The preferences of a user, merged over those of the business: a JSON object.
    package func preferences(of user: UserID, in business: BusinessID) async throws -> JSONValue {
        try await store.preferences(of: user, in: business)
    }
}
