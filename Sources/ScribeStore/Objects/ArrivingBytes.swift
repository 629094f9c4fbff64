package import ScribeDomain

/// Files on their way, by business: what is received counts towards a quota before it is stored, and also where it is
/// recognised and never stored.
package final class ArrivingBytes: Sendable {
    private struct Amount {
        /// As it was when the last of the files began, in bytes.
        var stored: Int
        /// Of all files, in bytes.
        var arriving = 0
        var files = 0
    }

    private let store: Store
    private let amounts = LockedValue<[BusinessID: Amount]>([:])

    package init(store: Store) { self.store = store }

    /// Begins to count a file.
    /// - Parameters:
    ///   - size: how much is announced, in bytes: nobody need send in vain what there is no room for.
    ///   - place: of the object that it will be, in the place of one that is there perhaps.
    /// - Returns: nil where there is no quota.
    /// - Throws: ``ScribeError/storageQuotaExceeded``.
    package func begin(
        of business: BusinessID, expecting size: Int = 0, at place: (bucket: String, key: String)? = nil
    ) async throws -> ArrivingFile? {
        guard let quota = store.quotas.storedBytes else { return nil }
        let stored = try await store.storedBytes(of: business)
        var replaced = 0
        if let place {
            replaced = try await store.object(business: business, bucket: place.bucket, key: place.key)?.size ?? 0
        }
        amounts.withLock { amounts in
            amounts[business, default: Amount(stored: stored)].stored = stored
            amounts[business]?.files += 1
        }
        let file = ArrivingFile(of: self, business: business, quota: quota, replacing: replaced)
        try file.expect(size)
        return file
    }

    fileprivate func take(_ count: Int, of business: BusinessID, quota: Int) -> Bool {
        amounts.withLock { amounts in
            guard let amount = amounts[business], count <= quota - amount.stored - amount.arriving else { return false }
            amounts[business]?.arriving += count
            return true
        }
    }

    fileprivate func end(_ count: Int, of business: BusinessID) {
        amounts.withLock { amounts in
            amounts[business]?.arriving -= count
            amounts[business]?.files -= 1
            if amounts[business]?.files == 0 { amounts[business] = nil }
        }
    }
}

/// One of the files. It stops counting when nobody holds it any more.
package final class ArrivingFile: Sendable {
    private let all: ArrivingBytes
    private let business: BusinessID
    private let quota: Int
    /// Of the object in whose place it will be, which is counted already.
    private let replaced: Int
    private let size = LockedValue((reserved: 0, received: 0))

    fileprivate init(of all: ArrivingBytes, business: BusinessID, quota: Int, replacing replaced: Int) {
        self.all = all
        self.business = business
        self.quota = quota
        self.replaced = replaced
    }

    deinit { all.end(size.withLock { $0.reserved }, of: business) }

    /// More of it is here.
    /// - Throws: ``ScribeError/storageQuotaExceeded``.
    func receive(_ count: Int) throws(ScribeError) {
        try expect(
            size.withLock { size in
                size.received += count
                return size.received
            })
    }

    /// There will be so much of it in all.
    fileprivate func expect(_ whole: Int) throws(ScribeError) {
        let missing = whole - replaced - size.withLock { $0.reserved }
        guard missing > 0 else { return }
        guard all.take(missing, of: business, quota: quota) else { throw .storageQuotaExceeded }
        size.withLock { $0.reserved += missing }
    }
}
