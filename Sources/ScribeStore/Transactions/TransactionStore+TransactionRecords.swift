import Basics
import Foundation
import ScribeDomain

/// Writes of a transaction's row, documents and jobs, within a SQL transaction.
extension TransactionStore {
    func insert(
        _ transaction: Transaction, documents: [ResultDocument], in db: any StoreSession
    ) throws -> Int64 {
        let (owner, request) = (transaction.owner, transaction.request)
        let location = request.audioLocation
        let text = StoredJSON.text(request)
        requests.remember(request, as: text)
        try db.insert(into: "transactions").values([
            "business_id": owner.business.rawValue, "txn_id": transaction.id.rawValue,
            "user_id": owner.user.rawValue, "doctor_id": owner.doctor.rawValue,
            "client_id": owner.client.rawValue, "patient_id": request.patientID, "bucket": location?.bucket,
            "folder": location?.folder, "language": request.inputLanguages.first, "fixture": request.fixture,
            "request": text, "user_status": transaction.userStatus.rawValue,
            "processing_status": transaction.processingStatus.rawValue,
            "committed_files": try StoredJSON.text(transaction.committedFiles),
            "created_at": transaction.createdAt.milliseconds, "committed_at": transaction.committedAt?.milliseconds,
            "encounter_id": policies[request.kind].visit(of: request), "kind": request.kind.rawValue,
            "terms": Self.text(ofTerms: request),
        ])
        let rowID = try db.insertedID()
        try DocumentStore.insert(documents, rowID: rowID, at: transaction.createdAt, in: db)
        return rowID
    }

    /// Stores the effect of a change.
    /// - Parameter claimsAssembly: whether this process claims the assembly job of a transaction that can be assembled
    ///   now. The job goes to the change sink, so that no runner must look for it in the store.
    func apply(
        _ effect: Transaction.Effect, to transaction: Transaction, insteadOf old: Transaction, rowID: Int64,
        claimsAssembly: Bool = false, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        if effect != .none { changes.append(.transaction(transaction.key)) }
        switch effect {
        case .none: break
        case .stored: try Self.save(transaction, insteadOf: old, rowID: rowID, in: db)
        case .ended:
            try Self.save(transaction, insteadOf: old, rowID: rowID, in: db)
            try db.run("DELETE FROM jobs WHERE transaction_id = ?", [rowID])
            if transaction.processingStatus == .cancelled, old.processingStatus != .cancelled {
                try raise([.cancelled], of: transaction, at: now, in: db, &changes)
            }
        case .process:
            let found = try Self.saveForProcessing(transaction, insteadOf: old, rowID: rowID, in: db)
            try startProcessing(
                transaction, rowID: rowID, found, claimsAssembly: claimsAssembly, at: now, in: db, &changes)
            if old.userStatus.isOpen { try raise([.ended], of: transaction, at: now, in: db, &changes) }
        }
    }

    /// Whether processing a committed transaction again may yield more.
    ///
    /// True if a committed file has bytes that were not transcribed, or if a step failed for another reason than the
    /// audio.
    static func mayChangeResults(_ transaction: Transaction, rowID: Int64, in db: any StoreSession) throws -> Bool {
        guard transaction.userStatus == .committed, transaction.processingStatus != .inProgress else { return false }
        let documents = try DocumentStore.documents(ofRow: rowID, in: db)
        if documents.contains(where: { $0.status == .failure && $0.errors.contains(where: \.isRetryable) }) {
            return true
        }
        // A person's transcript is kept, whatever audio has arrived.
        if documents.contains(where: { $0.kind == .transcript && $0.isEdited }) { return false }
        let known = try DocumentStore.chunkTranscripts(ofRow: rowID, in: db)
        let uploads = try AudioStore.uploads(of: transaction, db)
        return transaction.orderedFiles.contains { name in
            guard let eTag = uploads[name]?.eTag else { return false }
            guard let known = known[name], known.eTag == eTag else { return true }
            return if case .failure(let diagnostic) = known.result { diagnostic.isRetryable } else { false }
        }
    }

    /// State of a transaction at the start of its processing.
    struct ProcessingStart {
        /// Number of starts of processing, with this one.
        let generation: Int64
        let hasJobs: Bool
        let hasTranscripts: Bool
    }

    /// Stores a transaction whose processing starts.
    private static func saveForProcessing(
        _ transaction: Transaction, insteadOf old: Transaction, rowID: Int64, in db: any StoreSession
    ) throws -> ProcessingStart {
        let row = try db.row(
            """
            UPDATE transactions SET \(assignments), generation = generation + 1 WHERE id = ? RETURNING generation,
                CASE WHEN EXISTS (SELECT 1 FROM jobs WHERE transaction_id = transactions.id) THEN 1 ELSE 0 END
                    AS has_jobs,
                CASE WHEN EXISTS (SELECT 1 FROM chunk_transcripts WHERE transaction_id = transactions.id)
                    THEN 1 ELSE 0 END AS has_transcripts
            """, try values(of: transaction, insteadOf: old, rowID: rowID))
        guard let row else { throw ScribeError.transactionNotFound }
        return ProcessingStart(
            generation: row["generation"], hasJobs: row["has_jobs"], hasTranscripts: row["has_transcripts"])
    }

    static func save(
        _ transaction: Transaction, insteadOf old: Transaction, rowID: Int64, in db: any StoreSession
    ) throws {
        try db.run(
            "UPDATE transactions SET \(assignments) WHERE id = ?",
            try values(of: transaction, insteadOf: old, rowID: rowID))
    }

    private static let assignments = """
        user_status = ?, processing_status = ?, stopped_files = coalesce(?, stopped_files),
        chunk_times = coalesce(?, chunk_times), committed_files = coalesce(?, committed_files),
        committed_at = ?, processed_at = ?, archived_at = ?, audio_quality = ?,
        expires_at = CASE WHEN ? = 1 THEN expires_at END
        """

    /// Values of ``assignments``, and the row's id.
    private static func values(
        of transaction: Transaction, insteadOf old: Transaction, rowID: Int64
    ) throws -> SQLArguments {
        // Only the lists that have changed: lists are long, and each changes once.
        func text(_ list: KeyPath<Transaction, [String]>) throws -> String? {
            transaction[keyPath: list] == old[keyPath: list] ? nil : try StoredJSON.text(transaction[keyPath: list])
        }
        let times = transaction.stopped.times
        return [
            transaction.userStatus.rawValue, transaction.processingStatus.rawValue, try text(\.stopped.files),
            try times == old.stopped.times ? nil : StoredTimes(times).text, try text(\.committedFiles),
            transaction.committedAt?.milliseconds, transaction.processedAt?.milliseconds,
            transaction.archivedAt?.milliseconds, transaction.audioQuality,
            transaction.userStatus.isOpen && transaction.archivedAt == nil, rowID,
        ]
    }

    func saveRequest(of transaction: Transaction, rowID: Int64, in db: any StoreSession) throws {
        try db.run(
            "UPDATE transactions SET request = ?, patient_id = ?, language = ?, fixture = ?, terms = ? WHERE id = ?",
            [
                StoredJSON.text(transaction.request), transaction.request.patientID,
                transaction.request.inputLanguages.first, transaction.request.fixture,
                Self.text(ofTerms: transaction.request), rowID,
            ]
        )
    }

    /// Encodes the terms of a request, a JSON object. Most families store none, and an encoder is skipped for them.
    private static func text(ofTerms request: TransactionRequest) -> String {
        request.terms == .object([:]) ? "{}" : StoredJSON.text(.value(request.terms))
    }

    /// Removes the outdated results of a transaction, and makes its assembly job.
    func startProcessing(
        _ transaction: Transaction, rowID: Int64, _ start: ProcessingStart, claimsAssembly: Bool = false,
        at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        let listed = try StoredJSON.text(transaction.committedFiles)
        if start.hasTranscripts {
            try db.run(
                """
                DELETE FROM chunk_transcripts WHERE transaction_id = ?1
                    AND (failure IS NOT NULL OR NOT file_name \(db.isAmong(2)))
                """, [rowID, listed])
        }
        if start.hasJobs {
            try db.run(
                """
                DELETE FROM jobs WHERE transaction_id = ?1 AND (
                    kind = 'transcribe' AND NOT subject \(db.isAmong(2)) OR kind = 'note')
                """, [rowID, listed])
        }
        var documents = try DocumentStore.documents(ofRow: rowID, in: db)
        let outdated = documents.indices.filter { documents[$0].status != .inProgress && !documents[$0].isEdited }
        if !outdated.isEmpty {
            try db.run(
                """
                UPDATE documents SET status = 'in-progress', errors = '[]', warnings = '[]', updated_at = ?
                WHERE transaction_id = ? AND status <> 'in-progress' AND is_edited = 0 AND is_authored = 0
                """, [now.milliseconds, rowID])
            for index in outdated {
                (documents[index].status, documents[index].errors, documents[index].warnings) = (.inProgress, [], [])
            }
        }
        if claimsAssembly,
            let job = try store.work.claimAssembly(
                of: transaction, documents, rowID: rowID, start, at: now, in: db, &changes)
        {
            return changes.append(.claimed(job))
        }
        if !claimsAssembly {
            _ = try store.work.makeAssembly(ofRow: rowID, business: transaction.key.business, at: now, in: db)
        }
        changes.append(.work(.assemble))
    }
}
