import Basics
import Foundation
package import ScribeDomain

/// Page of a user's history: transactions, newest first.
package typealias HistoryPage = Page<TransactionSummary, HistoryPlace>

/// Cursor of a user's history: creation time and row of a page's last transaction.
package struct HistoryPlace: Hashable, Sendable {
    fileprivate let createdAt: Int64
    fileprivate let id: Int64
}

extension TransactionStore {
    /// Bytes that each transaction counts beside its patient's details.
    private static let summarySize = 500

    /// A user's transactions, newest first, without the cancelled ones (eka.md 2.8). A page has about ``pageSize``
    /// bytes at most: details of patients may be large.
    /// - Parameters:
    ///   - patient: `patient_details.oid` of the wanted transactions; nil for all patients.
    ///   - place: cursor of the page before; nil for the first page.
    ///   - limit: maximum number of transactions, at least one.
    package func history(
        business: BusinessID, user: UserID, patient: String?, after place: HistoryPlace?, limit: Int
    ) async throws -> HistoryPage {
        // Always a cursor: with an optional one SQLite could not seek to the row, and each page would read all rows
        // before it.
        let place = place ?? HistoryPlace(createdAt: .max, id: .max)
        return try await read { db in
            // Selects only the shown members of the request. Otherwise each request would have to be decoded whole.
            let rows = try db.rows(
                """
                SELECT * FROM (
                    SELECT page.*, count(*) OVER () AS found, ?7 + coalesce(length(patient), 0) AS size,
                        sum(?7 + coalesce(length(patient), 0)) OVER (ORDER BY created_at DESC, id DESC) AS total
                    FROM (
                        SELECT id, txn_id, business_id, user_id, doctor_id, created_at, user_status, processing_status,
                            \(db.text("request", "flavour")) AS flavour, \(db.text("request", "version")) AS version,
                            \(db.text("request", "mode")) AS mode, \(db.json("request", "patientDetails")) AS patient
                        FROM transactions
                        WHERE business_id = ?1 AND user_id = ?2 AND user_status <> 'cancelled' AND archived_at IS NULL
                            AND (CAST(?3 AS TEXT) IS NULL OR patient_id = ?3) AND (created_at, id) < (?4, ?5)
                        ORDER BY created_at DESC, id DESC LIMIT ?6
                    ) AS page
                ) AS measured WHERE total - size < ?8 ORDER BY created_at DESC, id DESC
                """,
                [
                    business.rawValue, user.rawValue, patient, place.createdAt, place.id, limit + 1, Self.summarySize,
                    ConversationStore.pageSize,
                ]
            )
            let found = rows.first.map { $0["found"] as Int } ?? 0
            let shown = rows.prefix(limit)
            return HistoryPage(
                items: try shown.map(TransactionSummary.init(row:)),
                next: found <= shown.count
                    ? nil : shown.last.map { HistoryPlace(createdAt: $0["created_at"], id: $0["id"]) })
        }
    }
}

extension TransactionSummary {
    fileprivate init(row: StoredRow) throws {
        self.init(
            id: TransactionID(row["txn_id"]), business: BusinessID(row["business_id"]), user: UserID(row["user_id"]),
            doctor: DoctorID(row["doctor_id"]), createdAt: Date(milliseconds: row["created_at"]),
            flavour: row["flavour"] as String? ?? "", version: row["version"], mode: row["mode"],
            userStatus: try row.word("user_status"), processingStatus: try row.word("processing_status"),
            patientDetails: (row["patient"] as String?).flatMap(JSONDocument.written))
    }
}
