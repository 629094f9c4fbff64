package import Foundation
import GRDB
package import ScribeDomain

/// How far a committed transaction is.
package enum Assembly: Hashable, Sendable {
    /// Audio or transcriptions are still missing; the job was put back and will be woken.
    case waiting
    /// Everything that will come is here.
    case ready(AssemblyInput)
    /// Cancelled or finished meanwhile; the job is gone.
    case obsolete
}

/// What the results of a transaction are made from.
package struct AssemblyInput: Hashable, Sendable {
    package let transaction: Transaction
    /// The committed files in order.
    package let chunks: [ChunkOutcome]
    package let documents: [ResultDocument]
    /// Which of the transaction's commits this is for.
    package let generation: Int64
}

extension Store {
    /// Looks whether a committed transaction can be put together, and makes the jobs that are still needed for that.
    ///
    /// - Parameter objectWait: how long after commit a listed file that is not there may still arrive, in seconds;
    ///   older iOS clients commit before their last upload has ended (eka-v2.md 3.4).
    package func planAssembly(_ job: Job, objectWait: TimeInterval, at now: Date) async throws -> Assembly {
        try await writes.write { db in
            guard let row = try Self.transactionRow(job.transaction, in: db) else { return .obsolete }
            let rowID: Int64 = row["id"]
            let transaction = try Self.withFilesFound(Transaction(row: row), rowID: rowID, in: db)
            let documents = try Self.documents(ofRow: rowID, in: db)
            // What was processed is looked at again when a further document was asked for.
            guard transaction.userStatus == .committed, let committedAt = transaction.committedAt,
                transaction.processingStatus == .inProgress || documents.contains(where: { !$0.status.isFinal })
            else {
                try db.run("DELETE FROM jobs WHERE id = ?", [job.id])
                return .obsolete
            }
            if documents.contains(where: { $0.kind == .transcript && $0.status.isFinal }) {
                // Supplied, corrected or heard before: nothing of the audio is needed for it.
                return .ready(
                    AssemblyInput(
                        transaction: transaction, chunks: [], documents: documents, generation: row["generation"]
                    )
                )
            }
            let known = try Self.chunkTranscripts(ofRow: rowID, in: db)
            var chunks: [ChunkOutcome] = []
            var isIncomplete = false
            var isMissingAudio = transaction.waitsForAnyFile
            for name in transaction.orderedFiles {
                let times = transaction.stopped.times[name]
                guard let eTag = try Self.eTag(of: name, in: transaction, db) else {
                    isMissingAudio = true
                    let failure = Diagnostic(.audioMissing, "The file was committed and never arrived")
                    chunks.append(ChunkOutcome(file: name, times: times, result: .failure(failure)))
                    continue
                }
                if let transcript = known[name], transcript.eTag == eTag {
                    chunks.append(ChunkOutcome(file: name, times: times, result: transcript.result))
                } else {
                    try Self.enqueueTranscription(of: name, eTag: eTag, rowID: rowID, at: now, in: db)
                    isIncomplete = true
                }
            }
            let deadline = committedAt.addingTimeInterval(objectWait)
            let waitsForAudio = isMissingAudio && now < deadline
            if isIncomplete || waitsForAudio {
                try db.run(
                    "UPDATE jobs SET state = 'pending', run_at = ?, attempts = 0 WHERE id = ?",
                    [waitsForAudio ? deadline.milliseconds : nil, job.id]
                )
                return .waiting
            }
            return .ready(
                AssemblyInput(
                    transaction: transaction, chunks: chunks, documents: documents, generation: row["generation"]
                )
            )
        }
    }

    /// Stores results, unless a later commit has started processing anew.
    package func save(_ documents: [ResultDocument], for input: AssemblyInput, at now: Date) async throws {
        try await writes.write { db in
            guard try Self.currentRow(input, in: db) != nil else { return }
            try Self.write(documents, at: now, in: db)
        }
    }

    /// Stores the last results and how the processing ended, and removes the job. When a later commit has started
    /// processing anew, or the transaction was cancelled, nothing is stored; the job then goes again.
    package func finish(
        _ job: Job, for input: AssemblyInput, documents: [ResultDocument], outcome: Transaction.ProcessingStatus,
        at now: Date
    ) async throws {
        try await writes.write { db in
            guard let row = try Self.currentRow(input, in: db) else {
                try db.run(
                    "UPDATE jobs SET state = 'pending', run_at = ?, attempts = 0 WHERE id = ?",
                    [now.milliseconds, job.id]
                )
                return
            }
            var transaction = try Transaction(row: row, withChunks: false, request: input.transaction.request)
            switch transaction.finish(outcome, quality: input.chunks.quality, at: now) {
            case .none: break
            case .stored, .process, .ended:
                try Self.write(documents, at: now, in: db)
                try Self.saveOutcome(of: transaction, rowID: row["id"], in: db)
            }
            try db.run("DELETE FROM jobs WHERE id = ?", [job.id])
        }
    }

    /// Ends the processing of a transaction whose results cannot be put together, and removes the job. A further
    /// commit tries again.
    package func abandon(_ job: Job, because diagnostic: Diagnostic, at now: Date) async throws {
        try await writes.write { db in
            guard let row = try Self.transactionRow(job.transaction, in: db) else { return }
            let rowID: Int64 = row["id"]
            var unfinished = try Self.documents(ofRow: rowID, in: db).filter { !$0.status.isFinal }
            for index in unfinished.indices {
                unfinished[index].status = .failure
                unfinished[index].errors = [diagnostic]
            }
            var transaction = try Transaction(row: row, withChunks: false)
            if transaction.finish(.systemFailure, at: now) != .none {
                try Self.write(unfinished, at: now, in: db)
                try Self.saveOutcome(of: transaction, rowID: rowID, in: db)
            }
            try db.run("DELETE FROM jobs WHERE id = ?", [job.id])
        }
    }

    // MARK: Within a SQL transaction

    static func documents(ofRow rowID: Int64, in db: Database) throws -> [ResultDocument] {
        try db.rows("SELECT * FROM documents WHERE transaction_id = ? AND is_authored = 0 ORDER BY id", [rowID])
            .map(ResultDocument.init(row:))
    }

    /// nil when a later commit has started processing anew, or the transaction is gone.
    private static func currentRow(_ input: AssemblyInput, in db: Database) throws -> Row? {
        guard let row = try transactionRow(input.transaction.key, in: db) else { return nil }
        return row["generation"] == input.generation ? row : nil
    }

    private static func saveOutcome(of transaction: Transaction, rowID: Int64, in db: Database) throws {
        try db.run(
            "UPDATE transactions SET processing_status = ?, processed_at = ?, audio_quality = ? WHERE id = ?",
            [
                transaction.processingStatus.rawValue, transaction.processedAt?.milliseconds, transaction.audioQuality,
                rowID,
            ]
        )
    }

    private static func write(_ documents: [ResultDocument], at now: Date, in db: Database) throws {
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

    /// A transaction that was started without naming its files has those that are in its folder (eka-v2.md 2.1).
    private static func withFilesFound(
        _ transaction: Transaction, rowID: Int64, in db: Database
    ) throws -> Transaction {
        guard transaction.waitsForAnyFile, let location = transaction.request.audioLocation else { return transaction }
        var transaction = transaction
        transaction.find(try names(in: location, business: transaction.key.business, db))
        try save(transaction, rowID: rowID, in: db)
        return transaction
    }

    private static func names(in location: AudioLocation, business: BusinessID, _ db: Database) throws -> [String] {
        let prefix = location.key(ofFile: "")
        return try db.rows(
            "SELECT key FROM objects WHERE business_id = ? AND bucket = ? AND key > ? ORDER BY key LIMIT 1000",
            [business.rawValue, location.bucket, prefix]
        ).map { $0["key"] as String }.prefix { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    static func eTag(of name: String, in transaction: Transaction, _ db: Database) throws -> String? {
        guard let location = transaction.request.audioLocation else { return nil }
        return try object(
            business: transaction.key.business, bucket: location.bucket, key: location.key(ofFile: name), in: db
        )?.eTag
    }

    static func chunkTranscripts(
        ofRow rowID: Int64, in db: Database
    ) throws -> [String: (eTag: String, result: Result<RecognisedSpeech, Diagnostic>)] {
        var transcripts: [String: (eTag: String, result: Result<RecognisedSpeech, Diagnostic>)] = [:]
        for row in try db.rows("SELECT * FROM chunk_transcripts WHERE transaction_id = ?", [rowID]) {
            let result: Result<RecognisedSpeech, Diagnostic> =
                if let failure = row["failure"] as String? {
                    .failure(try StoredJSON.value(failure))
                } else {
                    .success(try StoredJSON.value(row["speech"]))
                }
            transcripts[row["file_name"]] = (row["etag"], result)
        }
        return transcripts
    }
}

extension ResultDocument {
    init(row: Row) throws {
        self.init(
            id: DocumentID(row["document_id"]), kind: try row.word("kind"), templateID: TemplateID(row["template_id"]),
            name: row["name"], format: try row.word("format"), language: row["language"],
            isEdited: row["is_edited"], status: try row.word("status"), value: row["value"],
            errors: try StoredJSON.value(row["errors"]),
            warnings: try StoredJSON.value(row["warnings"])
        )
    }
}
