package import Foundation
package import ScribeDomain

extension WorkStore {
    /// Checks whether a committed transaction can be assembled, and makes the transcription jobs that are missing.
    ///
    /// - Parameter objectWait: time after the commit during which a listed file may still arrive, in seconds. Older iOS
    ///   clients commit before their last upload has ended (eka.md 3.4).
    package func planAssembly(_ job: Job, objectWait: TimeInterval, at now: Date) async throws -> AssemblyPlan {
        try await database.write(.transaction(job.transaction)) { db, changes in
            guard let row = try TransactionStore.transactionRow(job.transaction, in: db) else { return .obsolete }
            let rowID: Int64 = row["id"]
            let transaction = try Self.withFilesFound(Transaction(row: row), rowID: rowID, in: db)
            let documents = try DocumentStore.documents(ofRow: rowID, in: db)
            // A processed transaction is assembled again when a further document was requested.
            guard transaction.userStatus == .committed, let committedAt = transaction.committedAt,
                transaction.processingStatus == .inProgress || documents.contains(where: { !$0.status.isFinal })
            else {
                try db.run("DELETE FROM jobs WHERE id = ? AND claim = ?", [job.id, job.claim])
                return .obsolete
            }
            let audio = try self.audio(of: transaction, for: documents, rowID: rowID, at: now, in: db, &changes)
            let deadline = committedAt.addingTimeInterval(objectWait)
            let waitsForAudio = audio.isMissing && now < deadline
            if audio.isBeingTranscribed || waitsForAudio {
                try Self.beginAgain(job, at: waitsForAudio ? deadline : nil, in: db, &changes)
                return .waiting
            }
            return .ready(
                AssemblyInput(
                    transaction: transaction, chunks: audio.chunks, documents: documents, generation: row["generation"]
                )
            )
        }
    }

    /// Stores the results of an assembly and the outcome of processing, and removes the job.
    ///
    /// If a later commit has started processing again, or the transaction was cancelled, nothing is stored.
    /// - Parameters:
    ///   - heard: the chunks that the assembly itself has transcribed.
    ///   - quality: audio quality from 0 to 1; nil if not measured.
    @discardableResult
    package func finish(
        _ job: Job, for input: AssemblyInput, heard: [TranscribedChunk] = [], documents: [ResultDocument],
        outcome: Transaction.ProcessingStatus, quality: Double? = nil, at now: Date
    ) async throws -> AssemblyEnd {
        try await database.write(.transaction(job.transaction)) { db, changes in
            guard let row = try Self.currentRow(input, in: db) else {
                let isThere = try TransactionStore.transactionRow(input.transaction.key, in: db) != nil
                guard isThere else { return .obsolete }
                try Self.beginAgain(job, at: now, in: db, &changes)
                return .outdated
            }
            let transaction = try Transaction(row: row, withChunks: false, request: input.transaction.request)
            return try self.finish(
                job, of: transaction, heard: heard, documents: documents, outcome: outcome, quality: quality,
                rowID: row["id"], at: now, in: db, &changes)
        }
    }

    /// Ends the processing of a transaction whose assembly has failed, and removes the job. All unfinished documents
    /// fail with `diagnostic`.
    ///
    /// A later commit starts processing again, also a commit during the assembly.
    package func abandon(_ job: Job, because diagnostic: Diagnostic, at now: Date) async throws {
        try await database.write(.transaction(job.transaction)) { db, changes in
            guard let row = try TransactionStore.transactionRow(job.transaction, in: db) else { return }
            guard row["generation"] == job.generation else {
                _ = try Self.beginAgain(job, at: now, in: db, &changes)
                return
            }
            let rowID: Int64 = row["id"]
            var unfinished = try DocumentStore.documents(ofRow: rowID, in: db).filter { !$0.status.isFinal }
            for index in unfinished.indices {
                unfinished[index].status = .failure
                unfinished[index].errors = [diagnostic]
            }
            _ = try self.finish(
                job, of: Transaction(row: row, withChunks: false), documents: unfinished, outcome: .systemFailure,
                rowID: rowID, at: now, in: db, &changes)
        }
    }

    // MARK: Within a SQL transaction

    /// Stores the outcome of processing with the results, and removes the job.
    /// - Returns: ``AssemblyEnd/obsolete`` if the transaction is no longer committed, or if another process has the
    ///   job. Nothing is stored then.
    private func finish(
        _ job: Job, of old: Transaction, heard: [TranscribedChunk] = [], documents: [ResultDocument],
        outcome: Transaction.ProcessingStatus, quality: Double? = nil, rowID: Int64, at now: Date,
        in db: any StoreSession,
        _ changes: inout [Change]
    ) throws -> AssemblyEnd {
        let isHeld = try db.changed("DELETE FROM jobs WHERE id = ? AND claim = ?", [job.id, job.claim]) > 0
        guard isHeld else { return .obsolete }
        var transaction = old
        switch transaction.finish(outcome, quality: quality, at: now) {
        case .none: return .obsolete
        case .stored, .process, .ended:
            changes.append(.transaction(transaction.key))
            try Self.save(heard, rowID: rowID, at: now, in: db)
            try Self.write(documents, at: now, in: db)
            try Self.saveOutcome(of: transaction, rowID: rowID, in: db)
            // A further document of a processed transaction raises no second event.
            if old.processingStatus == .inProgress {
                try store.transactions.raiseEnd(of: transaction, rowID: rowID, at: now, in: db, &changes)
            }
            return .stored
        }
    }

    /// - Parameter time: nil waits to be woken.
    /// - Returns: false where another process has taken the job over.
    @discardableResult
    static func beginAgain(
        _ job: Job, at time: Date?, in db: any StoreSession, _ changes: inout [Change]
    ) throws -> Bool {
        let isHeld =
            try db.changed(
                "UPDATE jobs SET state = 'pending', run_at = ?, attempts = 0 WHERE id = ? AND claim = ?",
                [time?.milliseconds, job.id, job.claim]) > 0
        guard isHeld else { return false }
        if time != nil { changes.append(.work(job.work.kind)) }
        return true
    }

    /// Makes the assembly job of a transaction that was just committed, and claims it if it can run now.
    /// - Returns: nil if audio or transcripts are missing, if the job is already running, or if other jobs wait, whose
    ///   tenants take turns with this one.
    func claimAssembly(
        of transaction: Transaction, _ documents: [ResultDocument], rowID: Int64,
        _ start: TransactionStore.ProcessingStart,
        at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws -> Job? {
        let audio = try audio(
            of: transaction, for: documents, rowID: rowID, hasTranscripts: start.hasTranscripts,
            hasJobs: start.hasJobs, at: now, in: db, &changes)
        let row = try makeAssembly(
            ofRow: rowID, business: transaction.key.business, claims: !audio.isMissing && !audio.isBeingTranscribed,
            at: now, in: db)
        guard let row, row["state"] == "running" else { return nil }
        let input = AssemblyInput(
            transaction: transaction, chunks: audio.chunks, documents: documents, generation: start.generation)
        // It counts as no attempt yet, because the job may have to wait in this process. See ``postpone``.
        return Job(
            id: row["id"], transaction: transaction.key, attempt: 1, generation: start.generation,
            work: .assemble(input), claim: row["claim"])
    }

    /// Starts the assembly of a transaction anew, and makes or wakes its job.
    func startAssembly(
        ofRow rowID: Int64, business: BusinessID, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        try Self.outdateAssembly(ofRow: rowID, in: db)
        _ = try makeAssembly(ofRow: rowID, business: business, at: now, in: db)
        changes.append(.work(.assemble))
    }

    /// Makes the assembly job of a transaction, or makes the existing one due. A running job finds at its end that the
    /// generation has changed, and runs again.
    /// - Parameter claims: whether this process claims the job, unless others are due.
    /// - Returns: id, claim and state of the job; nil if it is running already.
    func makeAssembly(
        ofRow rowID: Int64, business: BusinessID, claims: Bool = false, at now: Date, in db: any StoreSession
    ) throws -> StoredRow? {
        try db.row(
            """
            INSERT INTO jobs (kind, transaction_id, subject, etag, run_at, business_id, state, claim, owner)
            SELECT 'assemble', ?1, '', '', CAST(?2 AS BIGINT), ?3, CASE WHEN claims = 1 THEN 'running' ELSE 'pending' END,
                claims, CASE WHEN claims = 1 THEN ?5 END
            FROM (
                SELECT CASE WHEN CAST(?4 AS BIGINT) = 1 AND NOT EXISTS (
                    SELECT 1 FROM jobs WHERE kind = 'assemble' AND state = 'pending' AND run_at <= CAST(?2 AS BIGINT)
                        AND transaction_id <> CAST(?1 AS BIGINT)
                ) THEN 1 ELSE 0 END AS claims
            ) AS turn WHERE claims >= 0
            ON CONFLICT (transaction_id, kind, subject) DO UPDATE SET run_at = excluded.run_at, attempts = 0,
                state = excluded.state, claim = jobs.claim + excluded.claim, owner = excluded.owner
            WHERE jobs.state = 'pending'
            RETURNING id, claim, state
            """,
            [rowID, now.milliseconds, business.rawValue, claims, holder.id])
    }

    /// Increments the generation of a transaction. A running assembly of an older generation runs again at its end.
    static func outdateAssembly(ofRow rowID: Int64, in db: any StoreSession) throws {
        try db.run("UPDATE transactions SET generation = generation + 1 WHERE id = ?", [rowID])
    }

    /// Committed audio of a transaction, with the state of its arrival and transcription.
    private struct Audio {
        var chunks: [CommittedChunk] = []
        /// Whether a committed file has not arrived.
        var isMissing = false
        /// Whether a chunk has a transcription job.
        var isBeingTranscribed = false
    }

    private func audio(
        of transaction: Transaction, for documents: [ResultDocument], rowID: Int64, hasTranscripts: Bool = true,
        hasJobs: Bool = true, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws -> Audio {
        var audio = Audio()
        // A transcript that was supplied, corrected or made before needs no audio.
        if documents.contains(where: { $0.kind == .transcript && $0.status.isFinal }) { return audio }
        let known = hasTranscripts ? try DocumentStore.chunkTranscripts(ofRow: rowID, in: db) : [:]
        let uploads = try AudioStore.uploads(of: transaction, db)
        // Another server may have made jobs for chunks that this one would transcribe with the results.
        let hearsLater =
            try !transcribesOnArrival
            && (holder.isAlone || !hasJobs
                || db.row("SELECT 1 AS one FROM jobs WHERE transaction_id = ? AND kind = 'transcribe'", [rowID]) == nil)
        audio.isMissing = transaction.waitsForAnyFile
        for (position, name) in transaction.orderedFiles.enumerated() {
            let times = transaction.stopped.times[name]
            guard let upload = uploads[name] else {
                audio.isMissing = true
                let failure = Diagnostic(.audioMissing, "The file was committed and never arrived")
                audio.chunks.append(.heard(ChunkOutcome(file: name, times: times, result: .failure(failure))))
                continue
            }
            if let transcript = known[name], transcript.eTag == upload.eTag {
                audio.chunks.append(.heard(ChunkOutcome(file: name, times: times, result: transcript.result)))
            } else if hearsLater {
                let chunk = ChunkToTranscribe(upload, named: name, position: position, of: transaction.request)
                audio.chunks.append(.unheard(chunk, times: times))
            } else {
                try Self.enqueueTranscription(of: name, eTag: upload.eTag, rowID: rowID, at: now, in: db, &changes)
                audio.isBeingTranscribed = true
            }
        }
        return audio
    }

    /// Row of an assembly's transaction; nil if a later commit has started processing again, or the transaction is
    /// gone.
    static func currentRow(_ input: AssemblyInput, in db: any StoreSession) throws -> StoredRow? {
        guard let row = try TransactionStore.transactionRow(input.transaction.key, in: db) else { return nil }
        return row["generation"] == input.generation ? row : nil
    }

    private static func saveOutcome(of transaction: Transaction, rowID: Int64, in db: any StoreSession) throws {
        try db.run(
            "UPDATE transactions SET processing_status = ?, processed_at = ?, audio_quality = ? WHERE id = ?",
            [
                transaction.processingStatus.rawValue, transaction.processedAt?.milliseconds, transaction.audioQuality,
                rowID,
            ]
        )
    }

    static func write(_ documents: [ResultDocument], at now: Date, in db: any StoreSession) throws {
        for document in documents {
            try db.run(
                """
                UPDATE documents SET status = ?, value = ?, errors = ?, warnings = ?, updated_at = ?
                WHERE document_id = ? AND is_edited = 0
                """,
                [
                    document.status.rawValue, document.value, try StoredJSON.text(document.errors),
                    try StoredJSON.text(document.warnings), now.milliseconds, document.id.rawValue,
                ]
            )
        }
    }

    /// Commits the files in the folder of a transaction whose init has listed no files (eka.md 2.1).
    private static func withFilesFound(
        _ transaction: Transaction, rowID: Int64, in db: any StoreSession
    ) throws -> Transaction {
        guard transaction.waitsForAnyFile, let location = transaction.request.audioLocation else { return transaction }
        var found = transaction
        found.find(try AudioStore.names(in: location, business: transaction.key.business, db))
        try TransactionStore.save(found, insteadOf: transaction, rowID: rowID, in: db)
        return found
    }
}
