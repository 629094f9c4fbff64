package import Foundation
package import ScribeDomain

/// Filter of recordings of all businesses and families; nil leaves a property open.
package struct RecordingFilter: Hashable, Sendable {
    /// Longest text that can match, in bytes of UTF-8. An id has at most 255 characters.
    package static let longestText = 1024

    package var business: BusinessID?
    package var kind: RecordingKind?
    package var client: ClientID?
    package var userStatus: Transaction.UserStatus?
    /// Processing states to list; empty for all.
    package var processingStatuses: Set<Transaction.ProcessingStatus> = []
    /// Part of the id, of the client's id, of the patient's name, of the visit, of the fixture or of the transcript.
    /// The case of ASCII letters is ignored.
    package var text: String?
    /// Whether a name, a visit, a fixture or a transcript may match the text, not only an id.
    package var searchesNames = true
    /// Whether recordings that their user has deleted are listed too.
    package var includesArchived = false
    /// Cursor of the page: `next` of the page before; nil for the first page.
    package var before: Int64?
    /// Maximum number of rows of a page, at least one.
    package var limit = 50

    package init() {}
}

/// Page of recordings, newest first. The cursor is the row before which the next page begins.
package typealias RecordingPage = Page<RecordingSummary, Int64>

/// File in a recording's folder.
package struct RecordingFile: Hashable, Sendable {
    /// Recognition of a file's bytes: its time, and the duration of the audio or a failure.
    package struct Recognition: Hashable, Sendable {
        package let time: Date
        /// Duration of the audio in seconds; nil if the recogniser has not measured it.
        package let duration: Double?
        package let failure: Diagnostic?
    }

    package let name: String
    /// Size in bytes.
    package let size: Int
    package let contentType: String?
    /// Time of the last upload under this name.
    package let uploadedAt: Date
    /// Recognition of the current bytes; nil if they were not recognised yet.
    package let recognition: Recognition?
}

/// Document of a recording, without its text.
package struct RecordingDocument: Hashable, Sendable {
    package let document: ResultDocument
    package let updatedAt: Date
    package let publishedAt: Date?
}

/// Recording with its files and documents.
package struct RecordingDetail: Sendable {
    package let transaction: Transaction
    package let kind: RecordingKind
    /// Files of the recording by name, at most ``Limits/files``.
    package let files: [RecordingFile]
    package let documents: [RecordingDocument]
}

extension TransactionStore {
    /// Lists recordings of all businesses and families, newest first. Rows that are added between two pages do not
    /// shift the pages.
    package func recordings(_ filter: RecordingFilter) async throws -> RecordingPage {
        let text = filter.text.flatMap { $0.isEmpty ? nil : $0.storable }
        if let text, text.utf8.count > RecordingFilter.longestText { return RecordingPage(items: [], next: nil) }
        // The stored request is searched as text first, because extracting the name from each request costs twice as
        // much.
        let encoded = try text.map {
            String(decoding: try StoredJSON.text($0).utf8.dropFirst().dropLast(), as: UTF8.self)
        }
        return try await read { db in
            let rows = try db.rows(
                Self.listOfRecordings(in: db),
                [
                    filter.before ?? Int64.max, filter.business?.rawValue, filter.client?.rawValue,
                    filter.userStatus?.rawValue, Self.list(filter.processingStatuses), filter.includesArchived,
                    filter.kind?.rawValue, text.map(Self.pattern), encoded.map(Self.pattern), filter.limit + 1,
                    filter.searchesNames, "\u{10FFFF}",
                ])
            return try RecordingPage(rows, limit: filter.limit, item: RecordingSummary.init(row:)) { $0["id"] }
        }
    }

    /// Reads a recording, also one that its user has deleted; nil if there is none.
    package func recording(_ key: Transaction.Key) async throws -> RecordingDetail? {
        try await read { db in
            let row = try db.row(
                "SELECT * FROM transactions WHERE business_id = ? AND txn_id = ?",
                [key.business.rawValue, key.id.rawValue])
            guard let row else { return nil }
            let transaction = try Transaction(row: row)
            let documents = try db.rows(
                """
                SELECT document_id, kind, template_id, name, format, language, is_edited, status, errors, warnings,
                    is_authored, created_at, updated_at, published_at, archived_at, NULL AS value
                FROM documents WHERE transaction_id = ? ORDER BY id
                """, [row["id"] as Int64])
            return RecordingDetail(
                transaction: transaction, kind: transaction.request.kind,
                files: try Self.files(of: transaction, rowID: row["id"], in: db),
                documents: try documents.map(RecordingDocument.init(row:)))
        }
    }

    /// Reads the recognised speech of a recording's files, by file name. Files whose recognition failed are left out.
    package func recordingSpeech(_ key: Transaction.Key) async throws -> [String: RecognisedSpeech] {
        try await read { db in
            let row = try db.row(
                "SELECT id FROM transactions WHERE business_id = ? AND txn_id = ?",
                [key.business.rawValue, key.id.rawValue])
            guard let row else { return [:] }
            return try DocumentStore.chunkTranscripts(ofRow: row["id"], in: db).compactMapValues {
                try? $0.result.get()
            }
        }
    }

    private static func files(
        of transaction: Transaction, rowID: Int64, in db: any StoreSession
    ) throws -> [RecordingFile] {
        guard let location = transaction.request.audioLocation else { return [] }
        let objects = try db.rows(
            "SELECT * FROM objects WHERE business_id = ? AND bucket = ? AND key > ? AND key < ? ORDER BY key LIMIT ?",
            [
                transaction.key.business.rawValue, location.bucket, location.key(ofFile: ""),
                location.folder.isEmpty ? "\u{10FFFF}" : "\(location.folder)0", Limits.files,
            ]
        ).map(StoredObject.init(row:))
        // By file name. Another upload under the same name has another ETag.
        let known = try db.rows(
            """
            SELECT file_name, etag, \(db.number("speech", "duration")) AS duration, failure, created_at
            FROM chunk_transcripts WHERE transaction_id = ?
            """, [rowID])
        let recognitions = Dictionary(known.map { ($0["file_name"] as String, $0) }, uniquingKeysWith: { $1 })
        return try objects.compactMap { object in
            guard let name = location.name(ofKey: object.key), !name.hasSlash else { return nil }
            let found = recognitions[name].flatMap { ($0["etag"] as String) == object.eTag ? $0 : nil }
            return RecordingFile(
                name: name, size: object.size, contentType: object.contentType, uploadedAt: object.createdAt,
                recognition: try found.map(RecordingFile.Recognition.init(row:)))
        }
    }

    /// The states as a JSON array; nil for none.
    private static func list(_ statuses: Set<Transaction.ProcessingStatus>) -> String? {
        guard !statuses.isEmpty else { return nil }
        return "[" + statuses.map { "\"\($0.rawValue)\"" }.sorted().joined(separator: ",") + "]"
    }

    /// Makes a LIKE pattern that finds a text anywhere. Wildcards in the text are escaped.
    private static func pattern(_ text: String) -> String {
        // By scalars: a combining mark after a wildcard would hide the wildcard.
        var pattern = String.UnicodeScalarView("%".unicodeScalars)
        for scalar in text.unicodeScalars {
            if scalar == "%" || scalar == "_" || scalar == "\\" { pattern.append("\\") }
            pattern.append(scalar)
        }
        pattern.append("%")
        return String(pattern)
    }

    /// SQL of the list of recordings. Row ids rise with time, so that the newest rows come first without an index, and
    /// a cursor stays valid.
    private static func listOfRecordings(in db: any StoreSession) -> String {
        // The patient's name has another key in each version of the transaction API.
        let names = ["username", "name"].map { db.text("request", "patientDetails", $0) }
        let patient = "coalesce(\(names[0]), \(names[1]))"
        let visit = db.text("request", "patientDetails", "visit_id")
        let ending = "substr(key, length(first_key) + 1)"
        let inFolder = """
            FROM objects WHERE objects.business_id = page.business_id AND objects.bucket = page.bucket
                AND key > first_key AND key < last_key AND substr(key, length(key) - 4) <> '.json'
                AND substr(key, length(key)) <> '_' AND replace(\(ending), '/', '') = \(ending)
            """
        return """
            WITH page AS (
                SELECT id, txn_id, business_id, user_id, doctor_id, client_id, bucket, user_status, processing_status,
                    chunk_times, created_at, committed_at, processed_at, archived_at, audio_at,
                    \(db.text("request", "flavour")) AS flavour,
                    substr(\(patient), 1, 200) AS patient,
                    substr(\(visit), 1, 200) AS visit,
                    fixture,
                    CASE WHEN folder = '' THEN '' ELSE folder || '/' END AS first_key,
                    CASE WHEN folder = '' THEN ?12 ELSE folder || '0' END AS last_key,
                    kind
                FROM transactions
                WHERE id < ?1 AND (CAST(?2 AS TEXT) IS NULL OR business_id = ?2)
                    AND (CAST(?3 AS TEXT) IS NULL OR client_id = ?3)
                    AND (CAST(?4 AS TEXT) IS NULL OR user_status = ?4)
                    AND (CAST(?5 AS TEXT) IS NULL OR processing_status \(db.isAmong(5)))
                    AND (?6 = 1 OR archived_at IS NULL) AND (CAST(?7 AS TEXT) IS NULL OR kind = ?7)
                    AND (CAST(?8 AS TEXT) IS NULL OR \(db.matches("txn_id", "?8"))
                        OR \(db.matches("client_id", "?8"))
                        OR (?11 = 1 AND (\(db.matches("request", "?9"))
                                AND (\(db.matches(patient, "?8")) OR \(db.matches(visit, "?8")))
                            OR \(db.matches("fixture", "?8"))
                            OR EXISTS (
                                SELECT 1 FROM documents WHERE transaction_id = transactions.id
                                    AND documents.kind = 'transcript' AND \(db.matches("value", "?8"))))))
                ORDER BY id DESC LIMIT ?10
            )
            SELECT page.*,
                coalesce(
                    (SELECT max(\(db.number("value", "end"))) FROM \(db.members(of: "chunk_times"))),
                    (SELECT sum(\(db.number("speech", "duration"))) FROM chunk_transcripts WHERE transaction_id = page.id)
                ) AS duration,
                (SELECT count(*) \(inFolder)) AS files, (SELECT max(created_at) \(inFolder)) AS uploaded_at,
                (
                    SELECT \(db.joined("status")) FROM (
                        SELECT status FROM documents WHERE transaction_id = page.id AND is_authored = 0
                            AND (kind = 'transcript' OR format <> 'transcript') ORDER BY id) AS statuses
                ) AS results,
                (
                    SELECT CASE WHEN status = 'failure' THEN errors ELSE warnings END FROM documents
                    WHERE transaction_id = page.id AND is_authored = 0 AND status IN ('failure', 'partial_success')
                    ORDER BY CASE WHEN status = 'failure' THEN 0 ELSE 1 END, id LIMIT 1
                ) AS problems
            FROM page ORDER BY id DESC
            """
    }
}

extension RecordingFile.Recognition {
    fileprivate init(row: StoredRow) throws {
        self.init(
            time: Date(milliseconds: row["created_at"]), duration: row["duration"],
            failure: try (row["failure"] as String?).map { try StoredJSON.value($0, as: StoredDiagnostic.self).value })
    }
}

extension RecordingDocument {
    fileprivate init(row: StoredRow) throws {
        self.init(
            document: try ResultDocument(row: row), updatedAt: Date(milliseconds: row["updated_at"]),
            publishedAt: (row["published_at"] as Int64?).map(Date.init(milliseconds:)))
    }
}
