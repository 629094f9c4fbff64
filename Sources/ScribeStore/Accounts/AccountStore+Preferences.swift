package import Basics
package import Foundation
package import ScribeDomain

extension AccountStore {
    /// Preferences of a user, merged over the preferences of the whole business.
    package func preferences(of user: UserID, in business: BusinessID) async throws -> JSONValue {
        try await read { db in
            try db.rows(
                "SELECT data FROM preferences WHERE business_id = ? AND user_id IN ('', ?) ORDER BY user_id",
                [business.rawValue, user.rawValue]
            ).reduce(.object([:])) { $0.merged(with: try StoredJSON.value($1["data"])) }
        }
    }

    /// Merges `data` into the preferences of a user. Other preferences stay unchanged (C-93).
    /// - Parameters:
    ///   - user: nil sets the preferences of the whole business.
    ///   - limit: maximum size of all preferences after the merge, in bytes.
    /// - Throws: ``ScribeError/tooLarge(limit:)``, ``ScribeError/storageQuotaExceeded``.
    package func setPreferences(
        _ data: JSONValue, of user: UserID?, in business: BusinessID, upTo limit: Int, at now: Date
    ) async throws {
        try await database.write(.business(business)) { db in
            let owner = user?.rawValue ?? ""
            let row = try db.row(
                "SELECT data FROM preferences WHERE business_id = ? AND user_id = ?", [business.rawValue, owner]
            )
            let before: JSONValue = try row.map { try StoredJSON.value($0["data"]) } ?? .object([:])
            let merged = StoredJSON.text(before.merged(with: data).withoutNulls())
            guard merged.utf8.count <= limit else { throw ScribeError.tooLarge(limit: limit) }
            try store.audio.withinQuota(of: business, in: db) {
                try db.insert(into: "preferences", onConflict: .update(key: ["business_id", "user_id"])).values([
                    "business_id": business.rawValue, "user_id": owner, "data": merged,
                    "updated_at": now.milliseconds,
                ])
            }
        }
    }
}
