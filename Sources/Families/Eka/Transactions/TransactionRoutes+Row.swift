import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Reads, changes and deletes a transaction by its id (eka.md 2.7).
extension TransactionRoutes {
    /// Decodes the body of PATCH.
    ///
    /// The web client cancels with `processing_status` and sends an arbitrary `user_status` beside it (C-109).
    private struct PatchBody: Decodable {
        let patch: TransactionPatch
        /// Archives the transaction, as DELETE does.
        let archives: Bool

        private enum CodingKeys: String, CodingKey {
            case mode, arc
            case userStatus = "user_status"
            case processingStatus = "processing_status"
            case processingError = "processing_error"
            case patientDetails = "patient_details"
            case sessionDetails = "session_details"
            case additionalData = "additional_data"
            case modelType = "model_type"
            case inputLanguages = "input_language"
        }

        private static let userStatuses = ["init", Transaction.recordingStarted, "stopped", "commit", "cancelled"]
        private static let processingStatuses = [
            "in-progress", "success", "system_failure", "request_failure", "cancelled", "failed",
        ]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            var patch = TransactionPatch()
            let statuses = [
                try container.decodeWord(forKey: .userStatus, of: Self.userStatuses),
                try container.decodeWord(forKey: .processingStatus, of: Self.processingStatuses),
            ]
            patch.isCancellation = statuses.contains("cancelled")
            patch.startsRecording = statuses.contains(Transaction.recordingStarted)
            archives = try container.decodeIfPresent(Bool.self, forKey: .arc) ?? false
            patch.processingError = try container.decodeEcho(forKey: .processingError)
            patch.patientDetails = try container.decodeEcho(forKey: .patientDetails)
            patch.sessionDetails = try container.decodeEcho(forKey: .sessionDetails)
            patch.additionalData = try container.decodeEcho(forKey: .additionalData)
            patch.mode = try container.decodeIfPresent(String.self, forKey: .mode)
            patch.modelType = try container.decodeIfPresent(String.self, forKey: .modelType)
            // An empty language counts as absent, as at init.
            patch.inputLanguages = try container.decodeIfPresent([String].self, forKey: .inputLanguages)?.filter {
                !$0.isEmpty
            }
            self.patch = patch
        }
    }

    @Sendable func read(_ request: Request, context: ScribeContext) async throws -> Response {
        guard let transaction = try await runtime.store.transactions.transaction(try context.requireTransaction())
        else {
            throw ScribeError.transactionNotFound
        }
        return try await .longJSON(
            .ok, .success("Transaction details fetched successfully", with: ["data": transaction.json]))
    }

    @Sendable func patch(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let body = try await request.decodeJSON(as: PatchBody.self, in: context)
        let user = try context.requirePrincipal().user
        let transaction = try await runtime.transactions.patch(key, body.patch, archivedBy: body.archives ? user : nil)
        return try await .longJSON(
            .ok, .success("Transaction updated successfully", key, with: ["data": transaction.json]))
    }

    /// Hides the transaction. Its data stays stored, and its id stays taken.
    @Sendable func archive(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        try await runtime.transactions.archive(key, by: try context.requirePrincipal().user)
        return .json(.ok, .success("Transaction deleted successfully"))
    }
}
