package import Foundation
package import ScribeDomain

/// Row of the list of recordings.
package struct RecordingSummary: Hashable, Sendable {
    package let id: TransactionID
    package let owner: Principal
    package let kind: RecordingKind
    /// `flavour` header of init, or a device's source.
    package let flavour: String
    /// Patient's name as the client sent it, cut at 200 characters.
    package let patientName: String?
    /// Visit as the client sent it, cut at 200 characters.
    package let visit: String?
    /// Fixture that the client or an operator chose; nil for none.
    package let fixture: String?
    package let userStatus: Transaction.UserStatus
    package let processingStatus: Transaction.ProcessingStatus
    package let createdAt: Date
    package let committedAt: Date?
    /// Time at which processing or a cancellation ended the recording.
    package let processedAt: Date?
    package let archivedAt: Date?
    /// Number of audio files in the recording's folder.
    package let files: Int
    /// Duration in seconds, by the client's times of its chunks or else of what was recognised; nil without any.
    package let duration: Double?
    /// Status of each result, the transcript first; without documents that repeat the transcript.
    package let results: [ResultDocument.Status]
    /// Errors of the first failed result, or else warnings of the first partial one.
    package let problems: [Diagnostic]
    /// Time of the last audio or message of a stream; nil without any.
    package let lastAudioAt: Date?
    /// Time of the last upload of an audio file; nil without any.
    package let lastUploadAt: Date?

    package var key: Transaction.Key { Transaction.Key(business: owner.business, id: id) }
}

extension RecordingSummary {
    init(row: StoredRow) throws {
        self.init(
            id: TransactionID(row["txn_id"]), owner: Principal(row: row), kind: RecordingKind(row["kind"]),
            flavour: row["flavour"] as String? ?? "", patientName: row["patient"], visit: row["visit"],
            fixture: row["fixture"],
            userStatus: try row.word("user_status"),
            processingStatus: try row.word("processing_status"), createdAt: Date(milliseconds: row["created_at"]),
            committedAt: (row["committed_at"] as Int64?).map(Date.init(milliseconds:)),
            processedAt: (row["processed_at"] as Int64?).map(Date.init(milliseconds:)),
            archivedAt: (row["archived_at"] as Int64?).map(Date.init(milliseconds:)),
            files: row["files"], duration: row["duration"],
            results: (row["results"] as String? ?? "").split(separator: " ").compactMap {
                ResultDocument.Status(rawValue: String($0))
            },
            problems: try (row["problems"] as String?).map(StoredJSON.diagnostics) ?? [],
            lastAudioAt: (row["audio_at"] as Int64?).map(Date.init(milliseconds:)),
            lastUploadAt: (row["uploaded_at"] as Int64?).map(Date.init(milliseconds:)))
    }
}
