import Foundation
import ScribeDomain

extension Transaction {
    /// Makes a transaction from its row.
    /// - Parameters:
    ///   - withChunks: false leaves the lists of files empty, for callers that do not read them.
    ///   - request: the decoded request, where the caller has it.
    init(row: StoredRow, withChunks: Bool = true, request: TransactionRequest? = nil) throws {
        let chunks =
            try withChunks
            ? ChunkList(
                files: StoredJSON.names(row["stopped_files"]),
                times: StoredTimes(text: row["chunk_times"]).value
            ) : ChunkList(files: [])
        var request = try request ?? StoredJSON.request(row["request"])
        try request.read(row)
        self.init(
            id: TransactionID(row["txn_id"]),
            owner: Principal(row: row),
            request: request,
            userStatus: try row.word("user_status"),
            processingStatus: try row.word("processing_status"),
            stopped: chunks,
            committedFiles: try withChunks ? StoredJSON.names(row["committed_files"]) : [],
            createdAt: Date(milliseconds: row["created_at"]),
            committedAt: (row["committed_at"] as Int64?).map(Date.init(milliseconds:)),
            processedAt: (row["processed_at"] as Int64?).map(Date.init(milliseconds:)),
            archivedAt: (row["archived_at"] as Int64?).map(Date.init(milliseconds:)),
            audioQuality: row["audio_quality"],
            lastAudioAt: (row["audio_at"] as Int64?).map(Date.init(milliseconds:))
        )
    }
}

extension TransactionRequest {
    /// Reads the properties with columns of their own. The bucket may differ from the URL's.
    mutating func read(_ row: StoredRow) throws {
        kind = RecordingKind(row["kind"])
        terms = try StoredJSON.object(row["terms"])
        audioLocation = (row["bucket"] as String?).flatMap { bucket in
            (row["folder"] as String?).map { AudioLocation(bucket: bucket, folder: $0) }
        }
    }
}

extension Principal {
    init(row: StoredRow) {
        self.init(
            businessID: row["business_id"], userID: row["user_id"], doctorID: row["doctor_id"],
            clientID: row["client_id"])
    }
}
