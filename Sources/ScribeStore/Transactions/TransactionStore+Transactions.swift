package import Foundation
package import ScribeDomain

/// Result of an init.
package enum Initialisation: Hashable, Sendable {
    case created
    /// The init repeats an earlier init whose answer was lost.
    case replayed
}

extension TransactionStore {
    /// Stores a new transaction with its documents, all in progress.
    ///
    /// - Throws: ``ScribeError/transactionLimitExceeded``; ``ScribeError/transactionAlreadyInitialized``;
    ///   ``ScribeError/storageQuotaExceeded`` if the kind of recording needs room at its start;
    ///   ``ScribeError/invalidRequest(field:problem:)`` for data beyond ``Limits``.
    /// - Parameter replays: whether a repeated init is answered like the first.
    package func initialise(
        _ transaction: Transaction, documents: [ResultDocument], replays: Bool = true
    ) async throws -> Initialisation {
        try transaction.request.requireWithinLimits()
        return try await database.write(.transaction(transaction.key), .client(transaction.owner.client)) {
            db, changes in
            try self.initialise(transaction, documents: documents, replays: replays, in: db, &changes)
        }
    }

    /// Stores a new transaction within a SQL transaction. An error leaves the database unchanged.
    func initialise(
        _ transaction: Transaction, documents: [ResultDocument], replays: Bool, in db: any StoreSession,
        _ changes: inout [Change]
    ) throws -> Initialisation {
        if let row = try Self.anyTransactionRow(transaction.key, in: db) {
            let existing = try Transaction(row: row)
            guard replays, existing.isReplayed(by: transaction.request, of: transaction.owner.user) else {
                throw ScribeError.transactionAlreadyInitialized
            }
            return .replayed
        }
        guard try !Self.hasReachedItsLimit(transaction.owner, in: db),
            try !hasReachedItsQuota(transaction.owner, at: transaction.createdAt, in: db)
        else { throw ScribeError.transactionLimitExceeded }
        // The client gets the error before it records audio that has no room.
        if policies[transaction.request.kind].needsRoomAtStart,
            try store.audio.hasUsedUpStorage(of: transaction.owner.business, in: db)
        {
            throw ScribeError.storageQuotaExceeded
        }
        let rowID = try insert(transaction, documents: documents, in: db)
        if transaction.userStatus == .committed {
            try WorkStore.outdateAssembly(ofRow: rowID, in: db)
            let start = ProcessingStart(generation: 1, hasJobs: false, hasTranscripts: false)
            try startProcessing(transaction, rowID: rowID, start, at: transaction.createdAt, in: db, &changes)
        }
        changes.append(.transaction(transaction.key))
        try raiseStart(of: transaction, rowID: rowID, in: db, &changes)
        return .created
    }

    /// Applies `change` to a transaction, and stores the effect that the domain decides.
    ///
    /// If the transaction is to be processed, the same SQL transaction deletes the transcripts of files that are not
    /// listed, sets the results back to in progress, and makes a job.
    /// - Parameter documents: documents that replace those still to be written, while the transaction is open; nil
    ///   keeps all documents.
    /// - Throws: ``ScribeError/transactionNotFound``, and errors of `change`.
    @discardableResult
    package func update(
        _ key: Transaction.Key, at now: Date, documents: [ResultDocument]? = nil,
        _ change: @escaping @Sendable (inout Transaction) throws(ScribeError) -> Transaction.Effect
    ) async throws -> Transaction {
        try await database.write(.transaction(key)) { db, changes in
            let row = try Self.requireTransactionRow(key, in: db)
            let old = try Transaction(row: row, request: self.requests.request(row["request"]))
            var transaction = old
            let effect = try change(&transaction)
            try transaction.requireWithinLimits()
            if transaction.request != old.request { try transaction.request.requireWithinLimits() }
            try self.apply(effect, to: transaction, insteadOf: old, rowID: row["id"], at: now, in: db, &changes)
            // Written only after a change: the request is long and seldom changes.
            if transaction.request != old.request { try self.saveRequest(of: transaction, rowID: row["id"], in: db) }
            if let documents, transaction.userStatus.isOpen {
                try Self.replaceDocuments(ofRow: row["id"], with: documents, at: now, in: db)
            }
            return transaction
        }
    }

    /// Commits files of a transaction. The domain decides whether processing starts.
    ///
    /// - Parameter fixtures: fixtures whose commits are refused.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/transactionCancelled``,
    ///   ``ScribeError/sessionExpired``, ``ScribeError/refusedOnPurpose``.
    @discardableResult
    package func commit(
        _ key: Transaction.Key, _ list: ChunkList, at now: Date, refusing fixtures: Set<String> = []
    ) async throws -> Transaction.Effect {
        try await database.write(.transaction(key)) { db, changes in
            try self.commit(key, list, at: now, refusing: fixtures, in: db, &changes)
        }
    }

    /// Transaction with its documents; nil without such a transaction. The transaction's lists of files are empty.
    ///
    /// The transcript is the first document. The others follow in the order of the requests.
    /// - Parameter authored: document of a client that is listed too, although it is no result.
    package func results(
        of key: Transaction.Key, andAuthored authored: DocumentID? = nil
    ) async throws -> (transaction: Transaction, documents: [ResultDocument])? {
        try await read { [requests] db in
            guard let row = try Self.transactionRow(key, in: db) else { return nil }
            return (
                try Transaction(row: row, withChunks: false, request: requests.request(row["request"])),
                try DocumentStore.documents(ofRow: row["id"], andAuthored: authored, in: db)
            )
        }
    }

    /// Transaction with a key.
    /// - Throws: ``ScribeError/transactionNotFound``.
    package func requireTransaction(_ key: Transaction.Key) async throws -> Transaction {
        guard let transaction = try await transaction(key) else { throw ScribeError.transactionNotFound }
        return transaction
    }

    /// Transaction with a key; nil if there is none.
    package func transaction(_ key: Transaction.Key) async throws -> Transaction? {
        try await read { try Self.transaction(key, in: $0) }
    }

    // MARK: Within a SQL transaction

    @discardableResult
    func commit(
        _ key: Transaction.Key, _ list: ChunkList, at now: Date, refusing fixtures: Set<String> = [],
        in db: any StoreSession, _ changes: inout [Change]
    ) throws -> Transaction.Effect {
        let row = try Self.requireTransactionRow(key, in: db)
        let rowID: Int64 = row["id"]
        let old = try Transaction(row: row, request: requests.request(row["request"]))
        try old.requireTime(at: now, lifetime: policies[old.request.kind].lifetime)
        try old.request.requireFixture(notAmong: fixtures)
        var transaction = old
        var list = list
        // A stop with commit means the files that have arrived (medscribe.md section 8). After the end of the
        // recording no file arrives, whatever names the client lists.
        if old.request.intake == .arrived, list.files.isEmpty || old.userStatus == .committed {
            list.files = old.userStatus == .committed ? [] : try Self.chunkNames(of: old, in: db)
        }
        let mayChangeResults = try Self.mayChangeResults(transaction, rowID: rowID, in: db)
        let effect = try transaction.commit(list, mayChangeResults: mayChangeResults, at: now)
        try applyAndHandOver(effect, to: transaction, insteadOf: old, rowID: rowID, at: now, in: db, &changes)
        return effect
    }

    /// Stores the end of a recording. A process that does not work on jobs leaves the assembly to others.
    func applyAndHandOver(
        _ effect: Transaction.Effect, to transaction: Transaction, insteadOf old: Transaction, rowID: Int64,
        at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        try transaction.requireWithinLimits()
        try apply(
            effect, to: transaction, insteadOf: old, rowID: rowID, claimsAssembly: holder.worksOnJobs, at: now,
            in: db, &changes)
    }

    /// Whether a client has reached its limit of transactions.
    ///
    /// Transactions are counted only for clients with a limit, because the count takes longer with each transaction.
    private static func hasReachedItsLimit(_ owner: Principal, in db: any StoreSession) throws -> Bool {
        let client = try db.row(
            "SELECT transaction_limit FROM clients WHERE client_id = ? AND business_id = ?",
            [owner.client.rawValue, owner.business.rawValue]
        )
        guard let limit = client?["transaction_limit"] as Int? else { return false }
        let started = try db.row(
            "SELECT count(*) AS count FROM transactions WHERE client_id = ?", [owner.client.rawValue]
        )
        return started?["count"] ?? 0 >= limit
    }

    private func hasReachedItsQuota(_ owner: Principal, at now: Date, in db: any StoreSession) throws -> Bool {
        guard let limit = quotas.openTransactions else { return false }
        let open = try db.rows(
            """
            SELECT 1 FROM transactions
            WHERE client_id = ? AND created_at > ? AND user_status IN ('init', 'stopped') AND archived_at IS NULL
            LIMIT ?
            """,
            [owner.client.rawValue, now.addingTimeInterval(-Transaction.openLifetime).milliseconds, limit]
        )
        return open.count >= limit
    }

    /// Row of a transaction that was not deleted.
    /// - Throws: ``ScribeError/transactionNotFound``.
    static func requireTransactionRow(_ key: Transaction.Key, in db: any StoreSession) throws -> StoredRow {
        guard let row = try transactionRow(key, in: db) else { throw ScribeError.transactionNotFound }
        return row
    }

    static func transactionRow(_ key: Transaction.Key, in db: any StoreSession) throws -> StoredRow? {
        try anyTransactionRow(key, in: db).flatMap { ($0["archived_at"] as Int64?) == nil ? $0 : nil }
    }

    /// Row of a transaction, also of a deleted one; nil if there is none.
    private static func anyTransactionRow(_ key: Transaction.Key, in db: any StoreSession) throws -> StoredRow? {
        try db.row(
            "SELECT * FROM transactions WHERE business_id = ? AND txn_id = ?",
            [key.business.rawValue, key.id.rawValue]
        )
    }

    static func transaction(_ key: Transaction.Key, in db: any StoreSession) throws -> Transaction? {
        try transactionRow(key, in: db).map { try Transaction(row: $0) }
    }
}
