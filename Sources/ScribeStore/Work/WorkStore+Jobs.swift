import Basics
package import Foundation
package import ScribeDomain

extension WorkStore {
    /// Claims the due jobs of a kind, earliest first. Several tenants with due jobs take turns. Each job goes to one
    /// claimant.
    /// - Returns: the jobs; without a due job the time at which the next job is due, nil when none is scheduled.
    package func claimJobs(_ kind: Job.Kind, upTo limit: Int, at now: Date) async throws -> Claim {
        let lastServed = store.lastServed.withLock { $0[kind] ?? "" }
        let (claim, served) = try await database.write(.none) { [holder] db, changes in
            while true {
                let due = try Self.dueJobs(kind, upTo: limit, after: lastServed, at: now, in: db)
                let claimed = try db.rows(
                    """
                    UPDATE jobs SET state = 'running', attempts = attempts + 1, claim = claim + 1, owner = ?2
                    WHERE state = 'pending' AND id \(db.isAmongIntegers(1))
                    RETURNING *
                    """,
                    [try StoredJSON.text(due.ids), holder.id]
                )
                guard !claimed.isEmpty else {
                    let next = try db.row(
                        "SELECT min(run_at) AS time FROM jobs WHERE state = 'pending' AND kind = ?", [kind.rawValue])
                    let time = (next?["time"] as Int64?).map(Date.init(milliseconds:))
                    return (Claim.nothing(until: time), String?.none)
                }
                var jobs: [Job] = []
                for row in claimed {
                    if let job = try Self.job(row, in: db) {
                        jobs.append(job)
                    } else {
                        // The job's object or document is gone, so there is no work. The assembly must not wait for the
                        // job any longer.
                        try db.run("DELETE FROM jobs WHERE id = ?", [row["id"] as Int64])
                        try Self.wakeAssembly(ofRow: row["transaction_id"], at: now, in: db, &changes)
                    }
                }
                if !jobs.isEmpty { return (.jobs(jobs), due.lastTenant) }
            }
        }
        // Outside the write, because a write may run twice.
        if let served { store.lastServed.withLock { $0[kind] = served } }
        return claim
    }

    /// Selects the next jobs: their ids, and the tenant whose turn was last; nil while only one tenant has jobs.
    /// - Parameter last: tenant that was served last. The tenant after it has the next turn.
    private static func dueJobs(
        _ kind: Job.Kind, upTo limit: Int, after last: String, at now: Date, in db: any StoreSession
    ) throws -> (ids: [Int64], lastTenant: String?) {
        func due(_ tenant: String?) throws -> [Int64] {
            let isTheirs = tenant == nil ? "CAST(?2 AS TEXT) IS NULL" : "business_id = ?2"
            return try db.rows(
                """
                SELECT id FROM jobs WHERE state = 'pending' AND kind = ?4 AND run_at <= ?1 AND \(isTheirs)
                ORDER BY run_at, id LIMIT ?3
                """,
                [now.milliseconds, tenant, limit, kind.rawValue]
            ).map { $0["id"] }
        }
        // Usually only one tenant has jobs.
        let ends = try db.row(
            """
            SELECT (SELECT min(business_id) FROM jobs WHERE state = 'pending' AND kind = ?1) AS first,
                (SELECT max(business_id) FROM jobs WHERE state = 'pending' AND kind = ?1) AS last
            """, [kind.rawValue])
        let first = ends?["first"] as String?
        guard let first, first != ends?["last"] else { return (try due(nil), nil) }
        let tenants = try db.rows(
            """
            WITH RECURSIVE tenants (id) AS (
                SELECT \(db.ordered("?1")) UNION ALL
                SELECT (
                    SELECT min(business_id) FROM jobs
                    WHERE state = 'pending' AND kind = ?2 AND business_id > tenants.id)
                FROM tenants WHERE tenants.id IS NOT NULL
            )
            SELECT id FROM tenants WHERE id IS NOT NULL
            """, [first, kind.rawValue]
        ).map { $0["id"] as String }
        let start = tenants.firstIndex { last.utf8.lexicographicallyPrecedes($0.utf8) } ?? 0
        var waiting: [(tenant: String, jobs: ArraySlice<Int64>)] = []
        // Further tenants would get no job.
        for tenant in tenants[start...] + tenants[..<start] where waiting.count < limit {
            let jobs = try due(tenant)
            if !jobs.isEmpty { waiting.append((tenant, jobs[...])) }
        }
        var chosen: [Int64] = []
        var served: String?
        while chosen.count < limit, waiting.contains(where: { !$0.jobs.isEmpty }) {
            for index in waiting.indices where chosen.count < limit {
                guard let job = waiting[index].jobs.popFirst() else { continue }
                chosen.append(job)
                served = waiting[index].tenant
            }
        }
        return (chosen, served)
    }

    /// Makes a claimed job pending again, due at `time`.
    /// - Parameter countsAttempt: whether the attempt counts; false for an interrupted job.
    package func postpone(_ job: Job, until time: Date, countsAttempt: Bool) async throws {
        // A job that was handed over is not counted yet.
        let isCounted = if case .assemble(.some) = job.work { false } else { true }
        let added = (countsAttempt ? 1 : 0) - (isCounted ? 1 : 0)
        try await database.write(.transaction(job.transaction)) { db, changes in
            try db.run(
                """
                UPDATE jobs SET state = 'pending', run_at = ?1,
                    attempts = CASE WHEN attempts + ?2 > 0 THEN attempts + ?2 ELSE 0 END
                WHERE id = ?3 AND claim = ?4
                """,
                [time.milliseconds, added, job.id, job.claim]
            )
            changes.append(.work(job.work.kind))
        }
    }

    /// Stores the transcript or the failure of a chunk, and wakes the transaction's assembly after the last chunk.
    ///
    /// If a commit without the chunk has removed the job, nothing is stored. A chunk that was replaced is transcribed
    /// again.
    package func finishTranscription(
        _ job: Job, of chunk: ChunkToTranscribe, result: Result<RecognisedSpeech, Diagnostic>, at now: Date
    ) async throws {
        try await database.write(.transaction(job.transaction)) { db, changes in
            let held = try db.row(
                "SELECT transaction_id, etag FROM jobs WHERE id = ? AND claim = ?", [job.id, job.claim])
            guard let row = held else {
                return
            }
            let rowID: Int64 = row["transaction_id"]
            guard row["etag"] == chunk.eTag else {
                try db.run("UPDATE jobs SET state = 'pending', run_at = ? WHERE id = ?", [now.milliseconds, job.id])
                changes.append(.work(.transcribe))
                return
            }
            try Self.save([(chunk, result)], rowID: rowID, at: now, in: db)
            try Self.end(job, rowID: rowID, at: now, in: db, &changes)
            changes.append(.transaction(job.transaction))
        }
    }

    /// Makes a transcription job for one chunk of an unfinished transaction, for a client that wants the text before
    /// the results.
    /// - Parameter file: name or number of the chunk.
    /// - Returns: false if the chunk has not arrived or is not to be transcribed. Before the commit, files without a
    ///   number and chunks of a fixture are not transcribed. After the commit, only listed files are transcribed.
    package func requestTranscription(of file: String, in key: Transaction.Key, at now: Date) async throws -> Bool {
        try await database.write(.transaction(key)) { db, changes in
            guard let row = try TransactionStore.transactionRow(key, in: db),
                case let transaction = try Transaction(row: row),
                transaction.processingStatus == .inProgress, let location = transaction.request.audioLocation
            else { return false }
            var name = file
            if try AudioStore.upload(of: file, in: transaction, db) == nil {
                let names = try AudioStore.names(in: location, business: key.business, db)
                name = Self.chunkName(file, among: names) ?? file
            }
            guard let upload = try AudioStore.upload(of: name, in: transaction, db) else { return false }
            let isHeard =
                transaction.userStatus.isOpen
                ? chunkOrdinal(ofFile: name) != nil && transaction.request.fixture == nil
                : transaction.orderedFiles.contains(name)
            guard isHeard else { return false }
            try Self.enqueueTranscription(of: name, eTag: upload.eTag, rowID: row["id"], at: now, in: db, &changes)
            return true
        }
    }

    // MARK: Within a SQL transaction

    /// Finds a chunk by its file name, or by its number, which the web client sends; nil without such a chunk.
    static func chunkName(_ file: String, among names: some Sequence<String>) -> String? {
        names.contains(file) ? file : names.first { chunkOrdinal(ofFile: $0).map(String.init) == file }
    }

    static func enqueueTranscription(
        of name: String, eTag: String, rowID: Int64, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        try db.run(
            """
            INSERT INTO jobs (kind, transaction_id, subject, etag, run_at, business_id)
            SELECT 'transcribe', ?1, ?2, ?3, ?4, business_id FROM transactions WHERE id = ?1 AND NOT EXISTS (
                SELECT 1 FROM chunk_transcripts WHERE transaction_id = ?1 AND file_name = ?2 AND etag = ?3
            )
            ON CONFLICT (transaction_id, kind, subject)
            DO UPDATE SET etag = excluded.etag, run_at = excluded.run_at, attempts = 0
            WHERE jobs.etag <> excluded.etag
            """,
            [rowID, name, eTag, now.milliseconds]
        )
        if changes.last != .work(.transcribe) { changes.append(.work(.transcribe)) }
    }

    /// Makes the results of a transaction due now, if they are awaited.
    package func wakeAssembly(of key: Transaction.Key, at now: Date) async throws {
        try await database.write(.transaction(key)) { db, changes in
            let row = try TransactionStore.requireTransactionRow(key, in: db)
            try Self.wakeAssembly(ofRow: row["id"], at: now, in: db, &changes)
        }
    }

    static func wakeAssembly(
        ofRow rowID: Int64, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        try db.run(
            "UPDATE jobs SET run_at = ? WHERE transaction_id = ? AND kind = 'assemble' AND state = 'pending'",
            [now.milliseconds, rowID]
        )
        changes.append(.work(.assemble))
    }

    /// Removes a finished job, and wakes the transaction's assembly after the last job of the kind.
    static func end(
        _ job: Job, rowID: Int64, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        try db.run("DELETE FROM jobs WHERE id = ?", [job.id])
        try db.run(
            """
            UPDATE jobs SET run_at = ?1 WHERE transaction_id = ?2 AND kind = 'assemble' AND state = 'pending'
                AND NOT EXISTS (SELECT 1 FROM jobs WHERE transaction_id = ?2 AND kind = ?3)
            """,
            [now.milliseconds, rowID, job.work.kind.rawValue]
        )
        if try db.changedRows() > 0 { changes.append(.work(.assemble)) }
    }

    private static func job(_ row: StoredRow, in db: any StoreSession) throws -> Job? {
        let kind: Job.Kind = try row.word("kind")
        if kind == .note { return try DocumentStore.noteJob(row, in: db) }
        let name: String = row["subject"]
        let owner = try db.row(
            """
            SELECT t.business_id, t.txn_id, t.generation, t.fixture, t.language,
                \(db.text("t.request", "inputLanguages", 1)) AS second_language,
                \(db.text("t.request", "modelType")) AS model, \(db.text("t.request", "transfer")) AS transfer,
                o.file, o.etag
            FROM transactions t LEFT JOIN objects o ON o.business_id = t.business_id AND o.bucket = t.bucket
                AND o.key = CASE WHEN t.folder = '' THEN '' ELSE t.folder || '/' END || ?2
            WHERE t.id = ?1
            """,
            [row["transaction_id"] as Int64, name]
        )
        guard let owner else { return nil }
        let key = Transaction.Key(business: BusinessID(owner["business_id"]), id: TransactionID(owner["txn_id"]))
        guard kind == .transcribe else {
            return Job(
                id: row["id"], transaction: key, attempt: row["attempts"], generation: owner["generation"],
                work: .assemble(), claim: row["claim"])
        }
        guard let file = owner["file"] as String?, let eTag = owner["etag"] as String? else { return nil }
        // The object may have been replaced since the job was made. The job transcribes the current bytes.
        if row["etag"] as String? != eTag {
            try db.run("UPDATE jobs SET etag = ? WHERE id = ?", [eTag, row["id"] as Int64])
        }
        let chunk = ChunkToTranscribe(
            name: name, file: file, eTag: eTag,
            ordinal: try ordinal(of: name, transfer: owner["transfer"], key, in: db),
            languages: [owner["language"] as String?, owner["second_language"]].compactMap(\.self),
            isLite: (owner["model"] as String?) == "lite", fixture: owner["fixture"]
        )
        return Job(
            id: row["id"], transaction: key, attempt: row["attempts"], generation: owner["generation"],
            work: .transcribe(chunk), claim: row["claim"])
    }

    private static func ordinal(
        of name: String, transfer: String?, _ key: Transaction.Key, in db: any StoreSession
    ) throws -> Int {
        let isChunked = transfer.flatMap(TransactionRequest.Transfer.init(rawValue:))?.isChunked ?? true
        if isChunked, let number = chunkOrdinal(ofFile: name) { return number }
        return try TransactionStore.transaction(key, in: db)?.orderedFiles.firstIndex(of: name).map { $0 + 1 } ?? 1
    }

    static func save(_ heard: [TranscribedChunk], rowID: Int64, at now: Date, in db: any StoreSession) throws {
        try save(heard.map { ($0.chunk.name, $0.chunk.eTag, $0.result) }, rowID: rowID, at: now, in: db)
    }

    /// Stores the results of recognitions. Files must have different names.
    static func save(
        _ results: [(file: String, eTag: String, result: Result<RecognisedSpeech, Diagnostic>)], rowID: Int64,
        at now: Date, in db: any StoreSession
    ) throws {
        try db.insert(into: "chunk_transcripts", onConflict: .update(key: ["transaction_id", "file_name"])).rows(
            results.map { file, eTag, result in
                let (speech, failure): (String?, String?) =
                    switch result {
                    case .success(let value): (StoredJSON.text(StoredSpeech(value).json), nil)
                    case .failure(let value): (nil, try StoredJSON.text(StoredDiagnostic(value)))
                    }
                return [
                    "transaction_id": rowID, "file_name": file, "etag": eTag, "speech": speech, "failure": failure,
                    "created_at": now.milliseconds,
                ]
            })
    }
}
