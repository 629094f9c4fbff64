import Basics
package import ScribeDomain

/// Sizes of stored objects, by business.
package protocol StoredSizes: Sendable {
    /// Most bytes of a business; nil without a quota.
    var storageQuota: Int? { get }

    /// Bytes that a business stores.
    func storedBytes(of business: BusinessID) async throws -> Int

    /// Size of an object in bytes; nil without such an object.
    func storedSize(of business: BusinessID, bucket: String, key: String) async throws -> Int?
}

/// Counts bytes that are being received, by business. The bytes count towards the storage quota before they are stored,
/// and also where audio is recognised and never stored.
package final class ArrivingBytes: Sendable {
    private struct Amount {
        /// Stored bytes of the business when its last file began.
        var stored: Int
        /// Bytes of all files that are being received.
        var arriving = 0
        var files = 0
    }

    private let stored: any StoredSizes
    private let amounts = LockedValue<[BusinessID: Amount]>([:])

    package init(_ stored: any StoredSizes) { self.stored = stored }

    /// Begins to count a file.
    /// - Parameters:
    ///   - size: announced size, in bytes. A file without room is refused before its bytes are sent.
    ///   - place: bucket and key of the object, which may replace an existing one.
    /// - Returns: nil where there is no quota.
    /// - Throws: ``ScribeError/storageQuotaExceeded``.
    package func begin(
        of business: BusinessID, expecting size: Int = 0, at place: (bucket: String, key: String)? = nil
    ) async throws -> ArrivingFile? {
        guard let quota = self.stored.storageQuota else { return nil }
        let stored = try await self.stored.storedBytes(of: business)
        var replaced = 0
        if let place {
            replaced = try await self.stored.storedSize(of: business, bucket: place.bucket, key: place.key) ?? 0
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

/// One file that is being received. Its bytes count until its last reference is gone.
package final class ArrivingFile: Sendable {
    private let all: ArrivingBytes
    private let business: BusinessID
    private let quota: Int
    /// Size of the object that the file will replace, in bytes. Those bytes are already counted.
    private let replaced: Int
    private let size = LockedValue((reserved: 0, received: 0))

    fileprivate init(of all: ArrivingBytes, business: BusinessID, quota: Int, replacing replaced: Int) {
        self.all = all
        self.business = business
        self.quota = quota
        self.replaced = replaced
    }

    deinit { all.end(size.withLock { $0.reserved }, of: business) }

    /// Counts received bytes.
    /// - Throws: ``ScribeError/storageQuotaExceeded``.
    func receive(_ count: Int) throws(ScribeError) {
        try expect(
            size.withLock { size in
                size.received += count
                return size.received
            })
    }

    /// Reserves room for the file's announced size, in bytes.
    fileprivate func expect(_ whole: Int) throws(ScribeError) {
        let missing = whole - replaced - size.withLock { $0.reserved }
        guard missing > 0 else { return }
        guard all.take(missing, of: business, quota: quota) else { throw .storageQuotaExceeded }
        size.withLock { $0.reserved += missing }
    }
}
