package import Foundation
package import ScribeDomain

/// Notes whose writer takes time: each is a job, and the assembly that waits for them holds nothing meanwhile.
extension Store {
    /// Keeps the transcript, and makes a job for each note that is still to be written. The assembly is put back and will
    /// be woken by the last of them.
    ///
    /// When a later commit has started processing anew, nothing is stored and the assembly goes again at once.
    /// - Parameter heard: what was unheard before.
    package func startNotes(
        _ job: Job, for input: AssemblyInput, heard: [HeardChunk], documents: [ResultDocument], at now: Date
    ) async throws {
        try await database.write(.transaction(job.transaction)) { db, changes in
            guard let row = try Self.currentRow(input, in: db) else {
                _ = try Self.beginAgain(job, at: now, in: db, &changes)
                return
            }
            guard try Self.beginAgain(job, at: nil, in: db, &changes) else { return }
            let rowID: Int64 = row["id"]
            try Self.save(heard, rowID: rowID, at: now, in: db)
            try Self.write(documents.filter(\.status.isFinal), at: now, in: db)
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

    /// Stores a note that was written, and wakes the assembly when it was the last.
    ///
    /// Nothing is stored when the job was taken away meanwhile, by a cancellation or a further commit; when the
    /// transcript is another one by now, the note is written again.
    /// - Returns: whether it was stored.
    package func finishNote(
        _ job: Job, _ note: NoteToWrite, as document: ResultDocument, at now: Date
    ) async throws -> Bool {
        try await database.write(.transaction(job.transaction)) { db, changes in
            let held = try db.row(
                "SELECT transaction_id FROM jobs WHERE id = ? AND claim = ?", [job.id, job.claim])
            guard let row = held else { return false }
            let rowID: Int64 = row["transaction_id"]
            guard try Self.transcript(ofRow: rowID, in: db) == note.transcript else {
                try Self.beginAgain(job, at: now, in: db, &changes)
                return false
            }
            try Self.write([document], at: now, in: db)
            try Self.end(job, rowID: rowID, at: now, in: db, &changes)
            changes.append(.transaction(job.transaction))
            return true
        }
    }

    // MARK: Within a SQL transaction

    /// - Returns: nil when nothing is left to write: a person has written it, or its transcript is made anew.
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
