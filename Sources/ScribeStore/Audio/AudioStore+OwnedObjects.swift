package import ScribeDomain

/// Object with its owner.
package struct OwnedObject: Hashable, Sendable {
    package let id: Int64
    package let business: BusinessID
    package let object: StoredObject
}

/// Objects of all businesses, for operators.
extension AudioStore {
    /// Objects in the order of their ids.
    package func objects(
        of business: BusinessID?, holding component: String?, after id: Int64?, limit: Int
    ) async throws -> [OwnedObject] {
        try await read { db in
            try db.rows(
                """
                SELECT * FROM objects WHERE id > ?1 AND (CAST(?2 AS TEXT) IS NULL OR business_id = ?2)
                    AND (CAST(?3 AS TEXT) IS NULL
                        OR replace('/' || key || '/', '/' || ?3 || '/', '') <> '/' || key || '/')
                ORDER BY id LIMIT ?4
                """, [id ?? 0, business?.rawValue, component, limit]
            ).map { row in
                OwnedObject(id: row["id"], business: BusinessID(row["business_id"]), object: try StoredObject(row: row))
            }
        }
    }

    /// The object with an id; nil if there is none.
    package func object(id: Int64) async throws -> StoredObject? {
        try await read { db in
            try db.row("SELECT * FROM objects WHERE id = ?", [id]).map(StoredObject.init(row:))
        }
    }
}
