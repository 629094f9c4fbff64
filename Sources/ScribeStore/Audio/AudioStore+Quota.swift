import ObjectStorage
package import ScribeDomain

/// Storage quota: the stored bytes of a business, and checks against its limit.
extension AudioStore {
    /// Size of all stored data of a business, in bytes.
    package func storedBytes(of business: BusinessID) async throws -> Int {
        try await read { try Self.storedBytes(of: business, in: $0) }
    }

    static func storedBytes(of business: BusinessID, in db: any StoreSession) throws -> Int {
        // PostgreSQL has several rows for a business, see PostgreSQLSchema+Triggers.swift.
        let row = try db.row(
            "SELECT coalesce(sum(bytes + content), 0) AS bytes FROM storage WHERE business_id = ?", [business.rawValue])
        return row?["bytes"] ?? 0
    }

    /// Whether a business has used up its storage quota.
    func hasUsedUpStorage(of business: BusinessID, in db: any StoreSession) throws -> Bool {
        guard let quota = quotas.storedBytes else { return false }
        return try Self.storedBytes(of: business, in: db) >= quota
    }

    /// Checks that a business has room for more bytes.
    /// - Throws: ``ScribeError/storageQuotaExceeded`` if `bytes` more would exceed the storage quota.
    func requireRoom(for bytes: Int, of business: BusinessID, in db: any StoreSession) throws {
        guard bytes > 0, let quota = quotas.storedBytes else { return }
        guard try Self.storedBytes(of: business, in: db) + bytes <= quota else {
            throw ScribeError.storageQuotaExceeded
        }
    }

    /// Runs a write that stores data of a business, and checks the storage quota after it.
    /// - Throws: ``ScribeError/storageQuotaExceeded`` if the business then stores more than before and more than its
    ///   quota; errors of `body`.
    func withinQuota<Value>(of business: BusinessID, in db: any StoreSession, _ body: () throws -> Value) throws
        -> Value
    {
        guard let quota = quotas.storedBytes else { return try body() }
        let before = try Self.storedBytes(of: business, in: db)
        let value = try body()
        let after = try Self.storedBytes(of: business, in: db)
        guard after <= max(before, quota) else { throw ScribeError.storageQuotaExceeded }
        return value
    }
}

extension AudioStore: StoredSizes {
    package var storageQuota: Int? { quotas.storedBytes }

    package func storedSize(of business: BusinessID, bucket: String, key: String) async throws -> Int? {
        try await object(business: business, bucket: bucket, key: key)?.size
    }
}
