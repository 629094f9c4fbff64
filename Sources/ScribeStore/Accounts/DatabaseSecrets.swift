import Foundation
import ScribeDomain

/// Secret store in rows of PostgreSQL, so that all processes on the database have the same keys.
package struct DatabaseSecrets: SecretStore {
    private let store: Store

    package init(_ store: Store) { self.store = store }

    /// Reads the secret's row, or makes it from `fresh`. Of several processes that make it at once, one wins.
    package func secret(named name: String, fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8] {
        try await store.database.write(.none) { db in
            let query = "SELECT value FROM secrets WHERE name = ?"
            if let row = try db.row(query, [name]) { return [UInt8](row["value"] as Data) }
            try db.run(
                "INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                [name, Data(try fresh())])
            guard let row = try db.row(query, [name]) else { return [] }
            return [UInt8](row["value"] as Data)
        }
    }
}
