package import Foundation
package import ScribeDomain
package import ScribeStore

/// Reads transactions of every family.
package struct RecordingQueries: Sendable {
    let store: Store

    /// Lists transactions of all businesses and families, newest first. Rows that are added between two pages move no
    /// row.
    package func list(_ filter: RecordingFilter) async throws -> RecordingPage {
        try await store.recordings(filter)
    }

    /// The timeline of a transaction, also of a deleted one; nil if there is none.
    package func timeline(of key: Transaction.Key) async throws -> RecordingTimeline? {
        guard let detail = try await store.recording(key) else { return nil }
        let filter = DeliveryFilter(
            session: key.id.rawValue, business: key.business, limit: RecordingTimeline.mostDeliveries)
        return RecordingTimeline(detail, deliveries: try await store.deliveries(filter))
    }

    /// The words of a recording's files by their names, as they were recognised. Failures are left out.
    package func speech(of key: Transaction.Key) async throws -> [String: RecognisedSpeech] {
        try await store.recordingSpeech(key)
    }

    /// The transaction with a key, or nil.
    package func transaction(_ key: Transaction.Key) async throws -> Transaction? {
        try await store.transaction(key)
    }

    /// The transaction without its lists of files, and its results: first the transcript, then notes in requested
    /// order.
    package func results(
        of key: Transaction.Key
    ) async throws -> (transaction: Transaction, documents: [ResultDocument])? {
        try await store.results(of: key)
    }

    /// A page of a user's transactions, newest first, without cancelled ones.
    /// - Parameters:
    ///   - patient: Keeps only transactions with this `patient_details.oid`.
    ///   - place: `next` of the page before; nil for the first page.
    package func history(
        business: BusinessID, user: UserID, patient: String?, after place: HistoryPlace?, limit: Int
    ) async throws -> HistoryPage {
        try await store.history(business: business, user: user, patient: patient, after: place, limit: limit)
    }

    /// The names of the files in a transaction's folder; nil if the transaction has no folder.
    package func fileNames(of transaction: Transaction) async throws -> [String]? {
        try await store.fileNames(of: transaction)
    }

    /// The start times of a business's transactions by their ids. Unknown ids are left out.
    package func startTimes(of ids: [String], in business: BusinessID) async throws -> [String: Date] {
        try await store.startTimes(of: ids, in: business)
    }

    /// Feedback on a transaction, oldest first.
    /// - Throws: ``ScribeError/transactionNotFound``.
    package func feedback(on key: Transaction.Key) async throws -> [Feedback] {
        try await store.feedback(on: key)
    }
}
