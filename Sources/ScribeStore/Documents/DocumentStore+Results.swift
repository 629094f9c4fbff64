import Foundation
import ScribeDomain

extension DocumentStore {
    /// Results of a transaction, in the order of their rows.
    /// - Parameter authored: document of a client that is listed too, although it is no result.
    static func documents(
        ofRow rowID: Int64, andAuthored authored: DocumentID? = nil, in db: any StoreSession
    ) throws -> [ResultDocument] {
        try db.rows(
            """
            SELECT * FROM documents
            WHERE transaction_id = ? AND (is_authored = 0 OR document_id = ? AND archived_at IS NULL) ORDER BY id
            """,
            [rowID, authored?.rawValue]
        ).map(ResultDocument.init(row:))
    }

    /// Transcriptions of a transaction's files, by file name, each with the ETag of what was transcribed.
    typealias ChunkTranscripts = [String: (eTag: String, result: Result<RecognisedSpeech, Diagnostic>)]

    static func chunkTranscripts(ofRow rowID: Int64, in db: any StoreSession) throws -> ChunkTranscripts {
        var transcripts: ChunkTranscripts = [:]
        for row in try db.rows("SELECT * FROM chunk_transcripts WHERE transaction_id = ?", [rowID]) {
            let result: Result<RecognisedSpeech, Diagnostic> =
                if let failure = row["failure"] as String? {
                    .failure(try StoredJSON.value(failure, as: StoredDiagnostic.self).value)
                } else {
                    .success(try StoredJSON.value(row["speech"], as: StoredSpeech.self).value)
                }
            transcripts[row["file_name"]] = (row["etag"], result)
        }
        return transcripts
    }
}

extension ResultDocument {
    init(row: StoredRow) throws {
        self.init(
            id: DocumentID(row["document_id"]), kind: try row.word("kind"), templateID: TemplateID(row["template_id"]),
            name: row["name"], format: try row.word("format"), language: row["language"],
            isEdited: row["is_edited"], status: try row.word("status"), value: row["value"],
            errors: try StoredJSON.diagnostics(row["errors"]),
            warnings: try StoredJSON.diagnostics(row["warnings"])
        )
    }
}
