package import Foundation
package import ScribeDomain

/// Jobs of notes whose writer takes time. The assembly that waits for the notes is pending and holds no resources.
extension DocumentStore {
    /// Stores the transcript, and makes a job for each note that is still to be written. The assembly becomes pending,
    /// and the last note wakes it.
    ///
    /// If a later commit has started processing again, nothing is stored and the assembly runs again at once.
    /// - Parameter heard: the chunks that the assembly itself has transcribed.
    package func startNotes(
        _ job: Job, for input: AssemblyInput, heard: [TranscribedChunk], documents: [ResultDocument], at now: Date
    ) async throws {
        try await database.write(.transaction(job.transaction)) { db, changes in
            guard let row = try WorkStore.currentRow(input, in: db) else {
                _ = try WorkStore.beginAgain(job, at: now, in: db, &changes)
                return
            }
            guard try WorkStore.beginAgain(job, at: nil, in: db, &changes) else { return }
            let rowID: Int64 = row["id"]
            try WorkStore.save(heard, rowID: rowID, at: now, in: db)
            try WorkStore.write(documents.filter(\.status.isFinal), at: now, in: db)
            for document in documents where !document.status.isFinal {
                try db.insert(into: "jobs", onConflict: .keep(key: ["transaction_id", "kind", "subject"])).values([
                    "kind": Job.Kind.note.rawValue, "transaction_id": rowID,
                    "business_id": input.transaction.key.business.rawValue, "subject": document.id.rawValue,
                    "etag": "", "run_at": now.milliseconds,
                ])
            }
            changes += [.transaction(input.transaction.key), .work(.note)]
        }
    }

    /// Stores a finished note, and wakes the assembly after the last note.
    ///
    /// If a cancellation or a further commit has removed the job, nothing is stored. If the transcript has changed, the
    /// note is written again.
    /// - Returns: whether the note was stored.
    package func finishNote(
        _ job: Job, _ note: NoteToWrite, as document: ResultDocument, at now: Date
    ) async throws -> Bool {
        try await database.write(.transaction(job.transaction)) { db, changes in
            let held = try db.row(
                "SELECT transaction_id FROM jobs WHERE id = ? AND claim = ?", [job.id, job.claim])
            guard let row = held else { return false }
            let rowID: Int64 = row["transaction_id"]
            guard try Self.transcript(ofRow: rowID, in: db) == note.transcript else {
                try WorkStore.beginAgain(job, at: now, in: db, &changes)
                return false
            }
            try WorkStore.write([document], at: now, in: db)
            try WorkStore.end(job, rowID: rowID, at: now, in: db, &changes)
            changes.append(.transaction(job.transaction))
            return true
        }
    }

    // MARK: Within a SQL transaction

    /// Makes a note job from its row.
    /// - Returns: nil if there is nothing to write: a person has written the note, or its transcript is being made
    ///   again.
    static func noteJob(_ row: StoredRow, in db: any StoreSession) throws -> Job? {
        let rowID: Int64 = row["transaction_id"]
        let id = DocumentID(row["subject"])
        let owner = try db.row(
            """
            SELECT business_id, txn_id, generation, request, kind, terms, bucket, folder FROM transactions WHERE id = ?
            """, [rowID])
        guard let owner, let transcript = try transcript(ofRow: rowID, in: db),
            let document = try documents(ofRow: rowID, in: db).first(where: { $0.id == id }), !document.status.isFinal
        else { return nil }
        var request = try StoredJSON.request(owner["request"])
        try request.read(owner)
        let note = NoteToWrite(document: document, transcript: transcript, request: request)
        return Job(
            id: row["id"],
            transaction: .init(business: BusinessID(owner["business_id"]), id: TransactionID(owner["txn_id"])),
            attempt: row["attempts"], generation: owner["generation"], work: .note(note), claim: row["claim"])
    }

    private static func transcript(ofRow rowID: Int64, in db: any StoreSession) throws -> Transcript? {
        try documents(ofRow: rowID, in: db).first { $0.kind == .transcript && $0.status.isFinal }
            .map(Transcript.init(of:))
    }
}
