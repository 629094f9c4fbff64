package import Foundation
package import ScribeDomain

/// Result of the exchange of a refresh token. A login is named by the hash of its first refresh token.
package enum RefreshOutcome: Hashable, Sendable {
    case rotated(Client, login: [UInt8])
    /// The token was used after its grace. All tokens of its login have ended.
    case reused(login: [UInt8])
    /// The token is unknown or has expired, or its login has ended.
    case refused
}

extension AccountStore {
    /// Replaces the registered clients of the clients file and of the demo. A client that is not in the list can no
    /// longer log in or refresh tokens.
    /// - Parameter clients: all these clients, each with the 32-byte hash of its secret.
    /// - Throws: ``SeedProblem/clientOfOtherOrigin(_:_:)`` for the id of a client of the operator API.
    package func register(_ clients: [(client: Client, secretHash: [UInt8], origin: ClientOrigin)]) async throws {
        try await database.write(.clients) { db in
            let taken = try db.row(
                "SELECT client_id FROM clients WHERE origin = 'api' AND client_id \(db.isAmong(1))",
                [try StoredJSON.text(clients.map(\.client.principal.client))])
            if let taken { throw SeedProblem.clientOfOtherOrigin(ClientID(taken["client_id"]), .api) }
            try db.run(
                "DELETE FROM clients WHERE origin <> 'api' AND NOT client_id \(db.isAmong(1))",
                [try StoredJSON.text(clients.map(\.client.principal.client))]
            )
            try Self.countClients(in: db)
            for (client, secretHash, origin) in clients { try Self.save(client, secretHash, origin, in: db) }
        }
    }

    /// Raises the number that other processes compare to learn of new clients.
    static func countClients(in db: any StoreSession) throws {
        try db.run(
            """
            INSERT INTO generations (name, value) VALUES ('clients', 1)
            ON CONFLICT (name) DO UPDATE SET value = generations.value + 1
            """)
    }

    /// Adds a client, or replaces it.
    static func save(
        _ client: Client, _ secretHash: [UInt8], _ origin: ClientOrigin, in db: any StoreSession
    ) throws {
        let principal = client.principal
        // A client with another secret or another principal must log in again.
        try db.run(
            """
            DELETE FROM refresh_tokens WHERE client_id = ?1 AND EXISTS (
                SELECT 1 FROM clients WHERE client_id = ?1 AND (
                    secret_hash <> ?2 OR business_id <> ?3 OR user_id <> ?4 OR doctor_id <> ?5))
            """,
            [
                principal.client.rawValue, Data(secretHash), principal.business.rawValue, principal.user.rawValue,
                principal.doctor.rawValue,
            ]
        )
        try db.insert(into: "clients", onConflict: .update(key: ["client_id"])).values([
            "client_id": principal.client.rawValue, "business_id": principal.business.rawValue,
            "user_id": principal.user.rawValue, "doctor_id": principal.doctor.rawValue, "name": client.name,
            "workspace": client.workspace, "secret_hash": Data(secretHash),
            "transaction_limit": client.transactionLimit, "origin": origin.rawValue,
        ])
    }

    /// Number of times that clients were registered or added.
    package func clientsGeneration() async throws -> Int {
        try await read { try $0.row("SELECT value FROM generations WHERE name = 'clients'")?["value"] ?? 0 }
    }

    /// Registered client with an id, and the hash of its secret; nil without such a client.
    package func client(_ id: ClientID) async throws -> (client: Client, secretHash: [UInt8])? {
        try await read { db in
            try db.row("SELECT * FROM clients WHERE client_id = ?", [id.rawValue])
                .map { (Client(row: $0), [UInt8]($0["secret_hash"] as Data)) }
        }
    }

    /// Stores the hash of a refresh token, and deletes expired tokens.
    package func saveRefreshToken(hash: [UInt8], of client: ClientID, _ period: RefreshPeriod) async throws {
        try await database.write(.clients) { db in
            try db.run("DELETE FROM refresh_tokens WHERE expires_at <= ?", [period.now.milliseconds])
            try Self.insertRefreshToken(hash, family: hash, of: client, period, in: db)
        }
    }

    /// Exchanges a refresh token for a new one.
    ///
    /// The old token stays valid for `grace` seconds by either clock, because clients refresh in parallel (eka.md 1.3).
    /// A later use means theft: the login ends then, with all its tokens.
    /// - Parameter newHash: hash of the new token. The old token determines the new one, which is the same each time.
    package func rotateRefreshToken(
        hash: [UInt8], to newHash: [UInt8], _ period: RefreshPeriod, grace: TimeInterval
    ) async throws -> RefreshOutcome {
        try await database.write(.clients) { db in
            let offset = period.offsetInMilliseconds
            let row = try db.row(
                """
                SELECT clients.*, rotated_at, family, (
                    SELECT clock_offset FROM refresh_tokens WHERE token_hash = ?4) AS rotated_offset
                FROM refresh_tokens JOIN clients USING (client_id)
                WHERE token_hash = ?1 AND is_ended = 0
                    AND expires_at > ?2 + CASE WHEN ?3 > clock_offset THEN ?3 - clock_offset ELSE 0 END
                """,
                [Data(hash), period.now.milliseconds, offset, Data(newHash)]
            )
            guard let row else { return .refused }
            let now = period.now.milliseconds
            let family = row["family"] as Data? ?? Data(hash)
            if let rotatedAt = row["rotated_at"] as Int64? {
                // The new token was issued at the rotation.
                let moved = offset - (row["rotated_offset"] as Int64? ?? offset)
                guard Double(now - rotatedAt + max(0, moved)) <= grace * 1000 else {
                    try db.run("UPDATE refresh_tokens SET is_ended = 1 WHERE family = ?", [family])
                    try Self.countClients(in: db)
                    return .reused(login: Array(family))
                }
            } else {
                try db.run("UPDATE refresh_tokens SET rotated_at = ? WHERE token_hash = ?", [now, Data(hash)])
            }
            let client = Client(row: row)
            try Self.insertRefreshToken(
                newHash, family: Array(family), of: client.principal.client, period, in: db)
            return .rotated(client, login: Array(family))
        }
    }

    /// Logins that ended because a refresh token was used again.
    package func endedLogins() async throws -> [[UInt8]] {
        try await read { db in
            try db.rows("SELECT DISTINCT family FROM refresh_tokens WHERE is_ended = 1")
                .compactMap { ($0["family"] as Data?).map(Array.init) }
        }
    }

    /// Deletes all refresh tokens of the login that a refresh token belongs to.
    package func endLogin(ofRefreshToken hash: [UInt8]) async throws {
        try await database.write(.clients) { db in
            try db.run(
                """
                DELETE FROM refresh_tokens WHERE token_hash = ?1
                    OR family = (SELECT COALESCE(family, token_hash) FROM refresh_tokens WHERE token_hash = ?1)
                """,
                [Data(hash)])
        }
    }

    private static func insertRefreshToken(
        _ hash: [UInt8], family: [UInt8], of client: ClientID, _ period: RefreshPeriod, in db: any StoreSession
    ) throws {
        try db.insert(into: "refresh_tokens", onConflict: .keep(key: ["token_hash"])).values([
            "token_hash": Data(hash), "client_id": client.rawValue, "expires_at": period.end.milliseconds,
            "family": Data(family), "clock_offset": period.offsetInMilliseconds,
        ])
    }
}

extension Client {
    init(row: StoredRow) {
        self.init(
            principal: Principal(row: row), name: row["name"], workspace: row["workspace"],
            transactionLimit: row["transaction_limit"]
        )
    }
}
