package import ScribeDomain

/// How much a business stores, and may store.
extension Store {
    /// In bytes.
    package func storedBytes(of business: BusinessID) async throws -> Int {
        try await read { try Self.storedBytes(of: business, in: $0) }
    }

    static func storedBytes(of business: BusinessID, in db: any StoreSession) throws -> Int {
        let row = try db.row("SELECT bytes + content AS bytes FROM storage WHERE business_id = ?", [business.rawValue])
        return row?["bytes"] ?? 0
    }

    /// Whether a business stores as much as it may.
    func hasUsedUpStorage(of business: BusinessID, in db: any StoreSession) throws -> Bool {
        guard let quota = quotas.storedBytes else { return false }
        return try Self.storedBytes(of: business, in: db) >= quota
    }

    /// - Throws: ``ScribeError/storageQuotaExceeded`` when a business would store more than it may with `bytes` more.
    func requireRoom(for bytes: Int, of business: BusinessID, in db: any StoreSession) throws {
        guard bytes > 0, let quota = quotas.storedBytes else { return }
        guard try Self.storedBytes(of: business, in: db) + bytes <= quota else {
            throw ScribeError.storageQuotaExceeded
        }
    }

    /// Does what stores something of a business's for a client.
    /// - Throws: ``ScribeError/storageQuotaExceeded`` when it stores more then than it did and may; what `body` throws.
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
