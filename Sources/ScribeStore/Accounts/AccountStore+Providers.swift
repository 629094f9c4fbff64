package import Foundation
package import ScribeDomain

/// Registered clinician of a partner.
package struct Provider: Hashable, Sendable {
    package let partner: String
    /// Name of the clinician in the partner's tokens.
    package let subject: String
    /// User id of the clinician on this server.
    package let user: UserID
    package let organisation: String
    package let specialty: String

    package init(partner: String, subject: String, user: UserID, organisation: String, specialty: String) {
        self.partner = partner
        self.subject = subject
        self.user = user
        self.organisation = organisation
        self.specialty = specialty
    }
}

/// Result of registering a clinician.
package enum ProviderRegistration: Hashable, Sendable {
    case registered
    /// The clinician was registered before.
    case known
    /// The partner has the maximum number of clinicians.
    case tooMany
}

extension AccountStore {
    package func register(_ provider: Provider, at now: Date) async throws -> ProviderRegistration {
        try await database.write(.partner(provider.partner)) { db in
            let registered = try db.row(
                """
                SELECT count(*) AS count, coalesce(sum(CASE WHEN subject = ?2 THEN 1 ELSE 0 END), 0) AS same
                FROM providers WHERE partner_id = ?1
                """,
                [provider.partner, provider.subject])
            guard let registered, (registered["same"] as Int) == 0 else { return .known }
            guard (registered["count"] as Int) < Limits.clinicians else { return .tooMany }
            try db.insert(into: "providers").values([
                "partner_id": provider.partner, "subject": provider.subject, "user_id": provider.user.rawValue,
                "organisation": provider.organisation, "specialty": provider.specialty,
                "created_at": now.milliseconds,
            ])
            return .registered
        }
    }

    package func provider(_ subject: String, of partner: String) async throws -> Provider? {
        try await read { db in
            try db.row(
                "SELECT * FROM providers WHERE partner_id = ? AND subject = ?", [partner, subject]
            ).map { row in
                Provider(
                    partner: row["partner_id"], subject: row["subject"], user: UserID(row["user_id"]),
                    organisation: row["organisation"], specialty: row["specialty"])
            }
        }
    }
}
